import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisServer } from '../support/redis.ts';
import type { LeakWatch } from './leak-watch.ts';

export type Fault = 'killed' | 'paused' | 'hung' | 'filled' | 'emptied' | 'spoiled';

export const FAULTS: readonly Fault[] = ['killed', 'paused', 'hung', 'filled', 'emptied', 'spoiled'];

/** Longer than any member waits for a reply, at any pace. */
const HUNG_MS = 400;

/** Brings a fault over the engine, and ends it. @param aWhile waits for the length of the fault */
export async function spoil(
  fault: Fault,
  redis: RedisServer,
  { leaks, aWhile }: { readonly leaks: LeakWatch; readonly aWhile: () => Promise<unknown> },
): Promise<unknown> {
  switch (fault) {
    case 'killed':
      await redis.kill();
      await aWhile();
      await redis.start();
      return leaks.listen();
    case 'paused':
      redis.pause();
      await aWhile();
      return redis.resume();
    case 'hung':
      redis.pause();
      await sleep(HUNG_MS);
      return redis.resume();
    case 'filled':
      await redis.command('CONFIG', 'SET', 'maxmemory', '1');
      await aWhile();
      return redis.command('CONFIG', 'SET', 'maxmemory', '0');
    case 'emptied':
      return redis.command('FLUSHALL');
    case 'spoiled':
      for (const key of await redis.keys()) {
        await redis.command('DEL', key);
        await redis.command('LPUSH', key, 'nonsense');
      }
  }
  return undefined;
}
