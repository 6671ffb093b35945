import type { Duplex } from 'node:stream';
import t, { type Test } from 'tap';
import { READS_UPGRADE_BODIES } from '../../src/node/upgrade-body.ts';
import { gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { answer, Http2Upstream } from '../support/h2-upstream.ts';
import { until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream } from '../support/raw-upstream.ts';
import { untilStill } from '../support/still.ts';

// A side that reads nothing stops the other one, whatever the size of the pieces: a sender can get rid of as much as the
// kernel's buffers hold, and a few pieces that wait in bearerd.

/** Several times what the kernel's buffers of two connections hold. */
const LIMIT_BYTES = 96 << 20;
/** A sender is stopped if it gets rid of nothing while the test looks so often. */
const STILL_LOOKS = 40;
const SIZES = [1_000, 4_096, 5_000];
const SWITCH = head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket');
const WS = ['connection: Upgrade', 'upgrade: websocket'];

interface Offer {
  /** Waits until nothing more is taken, or far too much. @returns the bytes that were taken */
  readonly stopped: () => Promise<number>;
  /** Ends the offer. @returns how many pieces it had in all */
  readonly end: (last?: string) => number;
}

/** Writes the piece again and again, as long as it is taken. */
function offer(to: Duplex, piece: string): Offer {
  const pieces = Math.ceil(65_536 / piece.length);
  const block = Buffer.from(piece.repeat(pieces), 'latin1');
  let blocks = 0;
  let over = false;
  const more = () => {
    do blocks++;
    while (!over && to.write(block));
  };
  const taken = () => blocks * block.length - to.writableLength;
  to.on('drain', () => over || more());
  more();
  return {
    stopped: () => untilStill(taken, STILL_LOOKS, LIMIT_BYTES),
    end: (last) => {
      over = true;
      if (last !== undefined) to.write(last);
      return blocks * pieces;
    },
  };
}

const chunkOf = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;

interface Stop {
  readonly proxy: TestGateway;
  /** Ends what stopped the upload, if it can end. */
  readonly go?: () => void;
  readonly lines?: readonly string[];
}

/** What stops an upload. */
const STOPS: Record<string, (t: Test) => Promise<Stop>> = {
  'an upstream that reads nothing': async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    upstream.onHead = ({ connection, message }) => {
      connection.socket.pause();
      void message.then(({ body }) => connection.send(ok(String(body.length))));
    };
    const proxy = await gatewayFor(t, { baseUrl: upstream.url });
    return { proxy, go: () => upstream.last.connection.socket.resume() };
  },
  'an HTTP/2 upstream that reads nothing': async (t) => {
    const upstream = await Http2Upstream.startedFor(t);
    upstream.onHead = (request) => {
      request.stream.pause();
      void request.ended.then(() => answer(request, String(request.received().length)));
    };
    const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
    return { proxy, go: () => upstream.last.stream.resume() };
  },
  'a login without an answer': async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const login = Promise.withResolvers<Buffer>();
    upstream.onLogin = () => login.promise;
    upstream.onRequest = (_request, { body }) => ok(String(body.length));
    const env = { BEARERD_TOKEN_WAIT: '10m' };
    const proxy = await gatewayFor(t, { baseUrl: upstream.url, env, loggedIn: false });
    return { proxy, go: () => login.resolve(grant('tok')) };
  },
  'a connection that is not made': async (t) => {
    const env = {
      BEARERD_ROUTES: '/=none',
      BEARERD_ALLOW_INSECURE_UPSTREAM: 'true',
      BEARERD_CONNECT_TIMEOUT: 'off',
    };
    const proxy = await gatewayFor(t, { baseUrl: 'http://api.example', env, lookup: () => {} });
    return { proxy };
  },
  'an upstream that has switched protocols and reads nothing': async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    upstream.onHead = ({ connection }) => {
      connection.socket.pause();
      return READS_UPGRADE_BODIES ? SWITCH : undefined;
    };
    const proxy = await gatewayFor(t, { baseUrl: upstream.url });
    return { proxy, lines: WS };
  },
};

for (const [what, begin] of Object.entries(STOPS)) {
  t.test(`an upload is stopped, whatever the size of its chunks, by ${what}`, async (t) => {
    for (const size of SIZES) {
      const { proxy, go, lines = [] } = await begin(t);
      const client = await proxy.client();
      t.teardown(() => client.close());
      client.send(request('POST', '/up', 'transfer-encoding: chunked', ...lines));
      const { stopped, end } = offer(client.socket, chunkOf(size));
      const taken = await stopped();
      t.ok(taken < LIMIT_BYTES, `${taken} bytes are taken in chunks of ${size}`);
      const chunks = end('0\r\n\r\n');
      if (taken > LIMIT_BYTES || go === undefined) continue;
      go();
      t.equal((await client.response()).text, String(chunks * size), 'the whole body goes up');
    }
  });
}

const SMALL = 'x'.repeat(100);

t.test('a side of a tunnel that does not read stops the other side, which sends small pieces', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onRequest = () => SWITCH;
  const proxy = await gatewayFor(t, { baseUrl: upstream.url });
  for (const up of [true, false]) {
    const client = await proxy.client();
    t.teardown(() => client.close());
    t.equal((await client.send(request('GET', '/', ...WS)).response()).status, 101);
    const { socket } = upstream.last.connection;
    const [from, to] = up ? [client.socket, socket] : [socket, client.socket];
    to.pause();
    const { stopped, end } = offer(from, SMALL);
    const taken = await stopped();
    t.ok(taken < LIMIT_BYTES, `${taken} bytes are taken`);
    const bytes = end() * SMALL.length;
    let read = 0;
    to.on('data', (piece: Buffer) => {
      read += piece.length;
    }).resume();
    await until(() => read === bytes, 'bytes are missing');
  }
});

t.test('a client that sends before the upstream has switched protocols is stopped', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onRequest = () => undefined;
  const proxy = await gatewayFor(t, { baseUrl: upstream.url });
  const client = await proxy.client();
  client.send(request('GET', '/', ...WS));
  const { stopped, end } = offer(client.socket, SMALL);
  const taken = await stopped();
  t.ok(taken < LIMIT_BYTES, `${taken} bytes are taken`);
  const { connection } = upstream.last;
  const before = connection.bytesReceived;
  connection.send(SWITCH);
  const bytes = end() * SMALL.length;
  await until(() => connection.bytesReceived - before === bytes, 'bytes are missing');
  client.close();
});

for (const scrub of [false, true]) {
  const env = { BEARERD_SCRUB: String(scrub) };
  const title = `a client that reads nothing stops a download in small chunks, ${scrub ? 'with' : 'without'} scrub`;
  const begun = async (proxy: TestGateway) => {
    const client = await proxy.client();
    client.socket.pause();
    client.send(request('GET', '/down'));
    return client;
  };

  t.test(title, async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    upstream.onHead = () => head('200 OK', 'transfer-encoding: chunked');
    const proxy = await gatewayFor(t, { baseUrl: upstream.url, env });
    const client = await begun(proxy);
    t.teardown(() => client.close());
    await until(() => upstream.requests.length > 0, 'no request');
    const { stopped, end } = offer(upstream.last.connection.socket, chunkOf(SMALL.length));
    const taken = await stopped();
    t.ok(taken < LIMIT_BYTES, `${taken} bytes are taken`);
    const bytes = end('0\r\n\r\n') * SMALL.length;
    client.socket.resume();
    const { body, whole } = await client.response();
    t.same([body.length, whole], [bytes, true]);
  });

  t.test(`${title}, over HTTP/2`, async (t) => {
    const upstream = await Http2Upstream.startedFor(t);
    upstream.onHead = ({ stream }) => stream.respond({ ':status': 200 });
    const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: { ...env, ...upstream.env } });
    const client = await begun(proxy);
    t.teardown(() => client.close());
    await until(() => upstream.requests.length > 0, 'no request');
    const { stream } = upstream.last;
    const { stopped, end } = offer(stream, SMALL);
    const taken = await stopped();
    t.ok(taken < LIMIT_BYTES, `${taken} bytes are taken`);
    const bytes = end() * SMALL.length;
    stream.end();
    client.socket.resume();
    const { body, whole } = await client.response();
    t.same([body.length, whole], [bytes, true]);
  });
}
