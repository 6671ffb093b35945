import type { CredentialPlacement } from '../../config.ts';

/** What is sent, or how it is got. */
export type Unplaced<C> = C extends CredentialPlacement ? Omit<C, keyof CredentialPlacement> : never;
