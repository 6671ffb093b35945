import { request } from '../support/gateway.ts';
import { RawClient, until } from '../support/raw-client.ts';
import { type Played, type Scene, seen } from './fault.ts';
import { BODY } from './ledger.ts';
import { KINDS, type Kind, UPLOAD } from './visit.ts';
import { WAYS } from './world.ts';

const MIB = 1 << 20;
const IDLE = { BEARERD_IDLE_TIMEOUT: '1s' };

/** What a client of its own sends first, under a name that the ledger has, too. */
function opening(kind: Kind, id: string): string {
  if (kind === 'POST of 1 MiB') return request('POST', '/thing', `x-id: ${id}`, `content-length: ${2 * MIB}`);
  if (kind === 'upgrade')
    return request('GET', '/thing', `x-id: ${id}`, 'connection: upgrade', 'upgrade: echo');
  return request('GET', kind === 'events' ? '/events' : '/thing', `x-id: ${id}`);
}

const LEAVES: Readonly<Record<string, (client: RawClient) => void>> = {
  'is reset': (client) => client.reset(),
  'is closed': (client) => client.close(),
  'is half-closed': (client) => client.halfClose(),
};

/** A request whose answer never ends, with its client, who has told us of it. */
async function begin({ world, kind }: Scene): Promise<RawClient> {
  world.ledger.answer = (_entry, response) => {
    response.writeHead(200);
    response.write(BODY);
  };
  const client = await RawClient.to(world.where, { keep: false, allowHalfOpen: true });
  client.send(opening(kind, 'leaver'));
  if (kind === 'POST of 1 MiB') client.send(UPLOAD);
  await until(() => world.ledger.of('leaver').some(reached(kind)), 'nothing of it arrives');
  world.unseen++;
  return client;
}

const reached = (kind: Kind) => (entry: { bytes: number; whole: boolean }) =>
  kind === 'POST of 1 MiB' ? entry.bytes > 0 : entry.whole;

const leaving = (
  number: number,
  title: string,
  how: keyof typeof LEAVES,
  kinds: readonly Kind[],
): Played => ({
  number,
  title: `${title} ${how}`,
  kinds,
  // A Unix socket knows no reset.
  ways: how === 'is reset' ? ['TCP', 'TLS', 'HTTP/2'] : WAYS,
  play: async (scene) => {
    const { t, world } = scene;
    const client = await begin(scene);
    LEAVES[how]!(client);
    const entry = world.ledger.of('leaver')[0]!;
    await until(() => entry.closed, 'the upstream is not told');
    await until(() => world.proxy.gateway.inFlight === 0, 'it is still under way');
    t.equal(entry.whole, scene.kind !== 'POST of 1 MiB', 'an upload that broke off is not whole');
    client.close();
  },
});

const neverReading: Played = {
  number: 31,
  title: 'a client never reads its answer',
  kinds: ['GET', 'POST of 1 MiB'],
  options: { env: IDLE },
  play: async ({ t, world, kind }) => {
    let sent = 0;
    world.ledger.answer = (_entry, response) => {
      response.writeHead(200);
      const piece = Buffer.alloc(MIB);
      const more = () => {
        if (response.destroyed) return;
        sent += MIB;
        if (response.write(piece)) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    const client = await RawClient.to(world.where, { keep: false });
    client.socket.pause();
    client.send(opening(kind, 'reader'));
    if (kind === 'POST of 1 MiB') client.send(UPLOAD).send(UPLOAD);
    world.unseen++;
    await until(() => sent > 0, 'no answer');
    await until(() => world.proxy.gateway.inFlight === 0, 'it is not cut off');
    t.ok(sent < 64 * MIB, `${sent / MIB} MiB were taken for it`);
    client.close();
  },
};

const pipelining: Played = {
  number: 32,
  title: 'a client sends a hundred requests at once',
  kinds: ['GET'],
  play: async ({ t, world }) => {
    world.ledger.answer = ({ request: { url } }, response) => void response.end(url);
    const client = await RawClient.to(world.where);
    const paths = Array.from({ length: 100 }, (_, n) => `/thing/${n}`);
    client.send(paths.map((path) => request('GET', path, 'x-id: piped')).join(''));
    for (const path of paths) t.equal((await client.response()).text, path);
    client.close();
    world.unseen += 100;
  },
};

const SLOW_CLIENTS = 1_000;

const slowloris: Played = {
  number: 33,
  title: 'a thousand clients begin a request and never end its head',
  kinds: ['GET'],
  ways: ['TCP', 'Unix socket'],
  slow: true,
  play: async ({ t, world, ask }) => {
    const before = process.memoryUsage().rss;
    const slow: RawClient[] = [];
    for (let n = 0; n < SLOW_CLIENTS; n++) {
      const client = await RawClient.to(world.where, { keep: false });
      slow.push(client.send('GET / HTTP/1.1\r\nhost: localhost\r\nx-'));
    }
    for (let n = 0; n < 5; n++) seen(t, await ask(), 200);
    // Our own ends of the connections are in it, too.
    const grownMib = (process.memoryUsage().rss - before) / MIB;
    t.ok(grownMib < 128, `grown by ${grownMib} MiB`);
    const first = slow[0]!;
    // That limit can't be set: it is a minute.
    await first.end(80_000);
    for (const client of slow) client.close();
    world.unseen = Number.NaN; // Some are told of, and some have left before.
  },
};

export const CLIENT_FAULTS: readonly Played[] = [
  leaving(28, 'the client of a download', 'is reset', ['GET', 'events', 'upgrade']),
  leaving(28, 'the client of a download', 'is closed', ['GET', 'events', 'upgrade']),
  leaving(29, 'the client of an upload', 'is reset', ['POST of 1 MiB']),
  leaving(29, 'the client of an upload', 'is closed', ['POST of 1 MiB']),
  leaving(30, 'a client', 'is half-closed', KINDS),
  neverReading,
  pipelining,
  slowloris,
];
