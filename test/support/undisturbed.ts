import assert from 'node:assert/strict';
import type { Test } from 'tap';
import type { Lifetime } from './lifetime.ts';
import { MachineLoad } from './machine-load.ts';

const TRIES = 5;
/** In which a try has what it waits for, or is played again. */
export const TRY_MS = 8_000;

/** What a story may do with its test. Its assertions throw, so that a try that counts for nothing says nothing. */
export type Story = Lifetime & {
  readonly [how in 'ok' | 'notOk']: (value: unknown, message?: string) => void;
} & { readonly [how in 'equal' | 'same']: (found: unknown, wanted: unknown, message?: string) => void } & {
  readonly match: (text: string, pattern: RegExp, message?: string) => void;
};

/**
 * A test of what the product does within limits of its own, of a second or so, beside another process. Where it fails
 * though the machine let both run whenever they wanted, it fails; where the machine didn't, it is played again from its
 * beginning, a few times.
 */
export function undisturbed(play: (t: Story) => Promise<void>): (t: Test) => Promise<void> {
  return async (t) => {
    for (let tries = TRIES; ; tries--) {
      const load = new MachineLoad();
      const failure = await played(play);
      const disturbance = load.end();
      if (failure === undefined) return void t.pass('what it says holds');
      if (disturbance === undefined || tries === 1) throw failure.cause;
      t.comment(`played again, for the machine ${disturbance}`);
    }
  };
}

async function played(play: (t: Story) => Promise<void>): Promise<{ readonly cause: unknown } | undefined> {
  const ends: (() => unknown)[] = [];
  try {
    await play(storyOf(ends));
    return undefined;
  } catch (cause) {
    return { cause };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

function storyOf(ends: (() => unknown)[]): Story {
  const { ok, equal, deepEqual: same, match } = assert;
  return {
    ...{ ok, equal, same, match },
    notOk: (value, message) => equal(Boolean(value), false, message ?? ''),
    teardown: (end) => void ends.push(end),
  } as Story;
}
