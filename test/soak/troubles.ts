import type { Relay } from '../faults/relay.ts';
import { CLIENT_TROUBLES } from './client-troubles.ts';
import { CONFIGURATION_TROUBLES } from './configuration-troubles.ts';
import { ODD_ANSWERS } from './session-answers.ts';
import type { Trouble, World } from './trouble.ts';

/** How a connection is broken. */
const CUTS = ['reset', 'end'] as const;

function again(everyMs: number, act: () => unknown): () => void {
  act();
  const timer = setInterval(act, everyMs);
  return () => clearInterval(timer);
}

const relayed = (
  name: string,
  begin: (relay: Relay, random: () => number) => (() => void) | undefined,
  excuses: readonly string[] = [],
): Trouble => ({
  name: `upstream ${name}`,
  harms: true,
  excuses,
  begin: ({ upstream }, random) => {
    const end = begin(upstream, random);
    return async () => {
      end?.();
      await upstream.heal();
    };
  },
});

const UPSTREAM: readonly Trouble[] = [
  relayed('refused', (relay) => void relay.refuse()),
  relayed('blackholed', (relay) => void relay.set({ blackhole: 'everything' })),
  relayed('half-open', (relay) => void relay.set({ blackhole: 'links' })),
  ...CUTS.map((how) =>
    relayed(`${how} at accept`, (relay) => {
      relay.cut(how);
      relay.set({ cutAtAccept: how });
      return undefined;
    }),
  ),
  ...CUTS.map((how) =>
    relayed(`${how} at times`, (relay, random) =>
      again(100, () =>
        random() < 0.5 ? relay.cut(how) : relay.cutAfter(Math.floor(random() * 20_000), how),
      ),
    ),
  ),
  ...CUTS.map((how) => relayed(`${how} when sent to`, (relay) => void relay.set({ cutAtNext: how }))),
  relayed('dripping', (relay) => void relay.set({ drip: { bytes: 40, everyMs: 20 }, delayMs: 50 })),
  relayed('corrupt', (relay, random) => again(20, () => relay.corruptAfter(Math.floor(random() * 3_000))), [
    'wrong',
    'garbled',
  ]),
  {
    name: 'upstream unavailable',
    harms: true,
    excuses: ['passed 503'],
    begin: ({ far }) => {
      far.order({ upstream: 'unavailable' });
      return () => far.order({ upstream: 'serve' });
    },
  },
  {
    name: 'far side stopped',
    harms: true,
    // A request sent in time is read after its token has expired.
    excuses: ['passed 401'],
    longestMs: 2_500,
    begin: ({ far }) => {
      far.signal('SIGSTOP');
      return () => far.signal('SIGCONT');
    },
  },
];

/** The longest fault that stops logins: the third try follows the second within four seconds. */
const SHORT_MS = 2_500;

const session = (name: string, begin: (world: World) => () => unknown): Trouble => ({
  name: `session endpoint ${name}`,
  harms: true,
  excuses: [],
  longestMs: SHORT_MS,
  begin,
});

const SESSION: readonly Trouble[] = [
  ...(Object.keys(ODD_ANSWERS) as (keyof typeof ODD_ANSWERS)[]).map((answer) =>
    session(answer, ({ far }) => {
      far.order({ session: answer });
      return () => far.order({ session: 'grant' });
    }),
  ),
  session('refused', ({ session: relay }) => {
    relay.refuse();
    return () => relay.heal();
  }),
  session('blackholed', ({ session: relay }) => {
    relay.set({ blackhole: 'everything' });
    // A restarted server resets old connections.
    return () => {
      relay.cut('reset');
      return relay.heal();
    };
  }),
  session('dripping', ({ session: relay }) => {
    relay.set({ drip: { bytes: 4, everyMs: 20 } });
    return () => relay.heal();
  }),
  {
    name: 'token revoked',
    harms: true,
    // Requests with a body too large to be kept, and requests under way.
    excuses: ['passed 401'],
    begin: ({ far }) => {
      far.order({ revoke: true });
      return () => {};
    },
  },
];

const STOPPED: Trouble = {
  name: 'bearerd stopped',
  harms: true,
  excuses: ['passed 401'],
  longestMs: 2_500,
  begin: ({ program }) => {
    program.signal('SIGSTOP');
    return () => program.signal('SIGCONT');
  },
};

export const TROUBLES: readonly Trouble[] = [
  ...UPSTREAM,
  ...SESSION,
  STOPPED,
  ...CLIENT_TROUBLES,
  ...CONFIGURATION_TROUBLES,
];
