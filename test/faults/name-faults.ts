import { setTimeout as sleep } from 'node:timers/promises';
import { readTls } from '../support/h2-upstream.ts';
import { type Played, seen } from './fault.ts';
import type { Way, World } from './world.ts';

// What bearerd finds out about the upstream before it speaks to it: its address, its certificate, and the time.

const SECURE: readonly Way[] = ['TLS', 'HTTP/2'];
const HOUR = 3_600_000;
const CONNECT = { BEARERD_CONNECT_TIMEOUT: '2s' };

const certificate = (name: string) => ({ cert: readTls(`${name}.pem`), key: readTls(`${name}.key`) });

const untrusted = (title: string, tls: object): Played => ({
  number: 23,
  title: `the upstream's TLS: ${title}`,
  ways: SECURE,
  options: { tls, env: CONNECT },
  recoveryMs: Number.POSITIVE_INFINITY, // It has no other certificate.
  play: async ({ t, world, ask }) => {
    seen(t, await ask(), 502, 504);
    t.equal(world.ledger.entries.length, 0, 'no credential leaves for it');
  },
});

const unresolved = (title: string, status: number, find: World['addresses']): Played => ({
  number: 25,
  title: `the resolver says ${title}`,
  options: { env: CONNECT },
  play: async ({ t, world, ask }) => {
    const { addresses } = world;
    world.addresses = find;
    seen(t, await ask(), ...(status === 200 ? [200, 101] : [status]));
    world.addresses = addresses;
  },
});

const failing = (code: string) => () => Object.assign(new Error(code), { code });
/** Nothing listens there, on this machine. */
const DEAD = { address: '::1', family: 6 };

const moved: Played = {
  number: 26,
  title: 'the name has another address, and the old one still takes connections',
  play: async ({ t, world, ask }) => {
    await world.visit('GET');
    const { accepted } = world.upstream;
    // One that is kept may be used until it is a minute old; whatever is new goes to the new one.
    const [other] = await Promise.all([world.secondUpstream(), world.upstream.cut('end')]);
    await sleep(50);
    seen(t, await ask(), 200, 101);
    t.equal(world.upstream.accepted, accepted, 'the old one gets no new connection');
    t.ok(other.accepted > 0, 'the new one does');
  },
};

const movedLongAgo: Played = {
  number: 26,
  title: 'the name has had another address for a minute, and the old one still takes requests',
  kinds: ['GET'],
  ways: ['TCP', 'HTTP/2'],
  slow: true,
  play: async ({ t, world, ask }) => {
    await world.visit('GET');
    const other = await world.secondUpstream();
    const limit = performance.now() + 62_000;
    while (performance.now() < limit && other.accepted === 0) {
      seen(t, await ask(), 200);
      await sleep(500);
    }
    await sleep(1_000);
    const before = world.upstream.open;
    seen(t, await ask(), 200);
    t.ok(other.accepted > 0, 'what it kept is given up in time');
    t.equal(before, 0, 'and the old one is left');
  },
};

const resolverDown: Played = {
  number: 27,
  title: 'the resolver is down while connections are kept',
  kinds: ['GET', 'POST of 1 MiB', 'events'],
  play: async ({ t, world, ask }) => {
    const { addresses } = world;
    await world.visit('GET');
    world.addresses = failing('EAI_AGAIN');
    for (let n = 0; n < 3; n++) seen(t, await ask(), 200);
    world.addresses = addresses;
  },
};

const clockSet = (title: string, byMs: number): Played => ({
  number: 42,
  title: `the clock is set: ${title}`,
  options: { env: { BEARERD_TOKEN_WAIT: '5s' } },
  play: async ({ t, world, ask }) => {
    world.clock.set(byMs);
    seen(t, await ask(), 200, 101);
    world.clock.set(-byMs);
    seen(t, await ask(), 200, 101);
    t.ok(
      world.ledger.entries.every(({ verdict }) => verdict === 'good'),
      'each with a good token',
    );
  },
});

const suspended: Played = {
  number: 43,
  title: "the machine sleeps for longer than the token's life",
  play: async ({ t, world, ask }) => {
    const logins = world.issuer.loginsMs.length;
    world.clock.suspend(2 * HOUR);
    const outcomes = await Promise.all([ask(), ask(), ask()]);
    for (const outcome of outcomes) seen(t, outcome, 200, 101);
    t.equal(world.issuer.loginsMs.length, logins + 1, 'they wait for one login');
    t.ok(
      world.ledger.entries.every(({ verdict }) => verdict === 'good'),
      'and none is a 401',
    );
  },
};

export const NAME_FAULTS: readonly Played[] = [
  untrusted('a certificate that has ended', certificate('expired')),
  untrusted('the certificate of another name', certificate('elsewhere')),
  untrusted('a self-signed certificate', certificate('selfsigned')),
  untrusted('a handshake that stalls', { SNICallback: () => {} }),
  untrusted('an old version alone', {
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  }),
  unresolved('that there is no such name', 502, failing('ENOTFOUND')),
  unresolved('that it has failed', 502, failing('EAI_AGAIN')),
  unresolved('nothing for long', 504, async () => {
    await sleep(5_000, undefined, { ref: false });
    return [];
  }),
  unresolved('no address', 502, () => []),
  unresolved('a dead IPv6 address before the live one', 200, (usual) => [
    DEAD,
    { address: usual, family: 4 },
  ]),
  moved,
  movedLongAgo,
  resolverDown,
  clockSet('an hour on', HOUR),
  clockSet('an hour back', -HOUR),
  clockSet('ten years on', 10 * 365 * 24 * HOUR),
  suspended,
];
