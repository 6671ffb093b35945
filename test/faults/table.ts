import { CLIENT_FAULTS } from './client-faults.ts';
import type { Played } from './fault.ts';
import { NAME_FAULTS } from './name-faults.ts';
import { SESSION_FAULTS } from './session-faults.ts';
import { UPSTREAM_FAULTS } from './upstream-faults.ts';

export const played: readonly Played[] = [
  ...SESSION_FAULTS,
  ...UPSTREAM_FAULTS,
  ...NAME_FAULTS,
  ...CLIENT_FAULTS,
];
