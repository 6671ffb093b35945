import type { Clock } from '../base/clock.ts';
import type { AnswerTiming } from './expiry.ts';

/**
 * Measures from this call on. The elapsed time is that of the clock that advanced further: the machine may sleep, and the
 * monotonic clock with it.
 */
export function startStopwatch(clock: Clock): () => Omit<AnswerTiming, 'serverDateMs'> {
  const startedWallMs = clock.wallMs();
  const startedMonoMs = clock.monoMs();
  return () => {
    const receivedWallMs = clock.wallMs();
    const elapsedMs = Math.max(receivedWallMs - startedWallMs, clock.monoMs() - startedMonoMs);
    return { receivedWallMs, elapsedMs };
  };
}
