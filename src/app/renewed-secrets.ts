import { LoginError } from '../base/login-error.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import type { SourceLogin } from '../tokens/source-login.ts';

/** Runs the commands of a credential's secrets, and applies changed secrets. Never rejects. */
export type RenewSecrets = (credential: string) => Promise<void>;

/**
 * A login whose secrets come from commands. The commands run at once after the first refusal: if a secret has changed,
 * the login is abandoned and no pause follows. After that they run before each try.
 */
export function withRenewedSecrets(login: SourceLogin, renew: () => Promise<void>): SourceLogin {
  let wasRefused = false;
  return async (signal, spareMs) => {
    if (wasRefused) await untilAborted(renew(), signal);
    try {
      const outcome = await login(signal, spareMs);
      wasRefused = false;
      return outcome;
    } catch (error) {
      const isFirst = !wasRefused;
      wasRefused = error instanceof LoginError && error.code === 'refused';
      if (wasRefused && isFirst) await untilAborted(renew(), signal);
      throw error;
    }
  };
}

/** Waits for the commands, or until the login is abandoned. */
function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return unlessAborted(work, signal).catch(() => {});
}
