import t, { type Test } from 'tap';
import { Relay } from '../faults/relay.ts';
import { configOf, type GatewayOptions, gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { type FrameConnection, FrameUpstream } from '../support/h2-frames.ts';
import { answer, CA_FILE, type Http2Request, Http2Upstream } from '../support/h2-upstream.ts';
import { PATIENCE_MS, until, within } from '../support/raw-client.ts';

// A connection on which requests wait is checked every 15 s, until it is closed.

const INTERVAL_MS = 15_000;
const ENV = { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none', BEARERD_RESPONSE_TIMEOUT: 'off' };

/** Intervals of 15 s that begin from now on end only when the function is called that this returns. */
function intervalsFor(t: Test): () => void {
  const { setInterval, clearTimeout } = globalThis;
  const running = new Map<unknown, () => void>();
  globalThis.setInterval = ((act: () => void, ms: number) => {
    const timer = setInterval(ms === INTERVAL_MS ? () => {} : act, ms);
    if (ms === INTERVAL_MS) running.set(timer, act);
    return timer;
  }) as typeof setInterval;
  globalThis.clearTimeout = ((timer: NodeJS.Timeout) => {
    running.delete(timer);
    clearTimeout(timer);
  }) as typeof clearTimeout;
  t.teardown(() => Object.assign(globalThis, { setInterval, clearTimeout }));
  return () => {
    for (const act of [...running.values()]) act();
  };
}

interface Played {
  readonly t: Test;
  readonly proxy: TestGateway;
  readonly options: GatewayOptions;
  /** On the connection; it has no answer yet. */
  readonly waiting: Http2Request;
}

/** What happens first; mostly the connection then takes no more requests. */
const ENDS: Record<string, (played: Played) => Promise<unknown>> = {
  'at first': async () => {},
  'after a reload': async ({ proxy, options }) => {
    const env = { ...options.env, BEARERD_CONNECT_TIMEOUT: '9m' };
    await proxy.gateway.reconfigure(await configOf({ ...options, env }));
  },
  'after a GOAWAY': async ({ waiting: { session } }) => {
    session.goaway();
    await answeredPing(session);
  },
  'after 800 requests': async ({ proxy }) => {
    const client = await proxy.client();
    for (let n = 0; n < 800; n++) {
      client.send(request('GET', '/'));
      await client.response();
    }
    client.close();
  },
};

/** Everything that was sent to bearerd before has been read. */
function answeredPing(session: Http2Request['session']): Promise<void> {
  const answered = new Promise<void>((resolve) => session.ping(() => resolve()));
  return within(PATIENCE_MS, answered, () => 'no answer to PING');
}

/** A proxy whose intervals pass when the test says so. */
async function startedFor(t: Test) {
  const intervalPasses = intervalsFor(t);
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onRequest = (one) => one.target !== '/slow' && answer(one, 'ok');
  const relay = await Relay.startedFor(t, upstream.port);
  const options: GatewayOptions = {
    baseUrl: `https://localhost:${relay.port}`,
    env: ENV,
    lookup: (_name, _options, found) => found(null, [{ address: relay.address, family: 4 }]),
  };
  const proxy = await gatewayFor(t, options);
  const client = await proxy.client();
  t.teardown(() => client.close());
  client.send(request('GET', '/slow'));
  await until(() => upstream.requests.length > 0, 'no request');
  return { relay, client, intervalPasses, played: { t, proxy, options, waiting: upstream.requests[0]! } };
}

for (const [when, first] of Object.entries(ENDS)) {
  t.test(`a dead connection gives 504 to the requests that wait on it, ${when}`, async (t) => {
    const { relay, client, intervalPasses, played } = await startedFor(t);
    await first(played);
    relay.set({ blackhole: 'links' });
    intervalPasses();
    intervalPasses();
    const response = await client.response();
    t.equal(response.status, 504);
    t.equal(response.header('proxy-status'), 'bearerd; error=connection_read_timeout');
    t.match(JSON.parse(response.text), { code: 'upstream-timeout', detail: /stopped answering/ });
  });

  t.test(`a connection that answers its checks goes on, ${when}`, async (t) => {
    const { client, intervalPasses, played } = await startedFor(t);
    await first(played);
    const { session, stream } = played.waiting;
    stream.respond({ ':status': 200 });
    for (let n = 0; n < 4; n++) {
      const asked = new Promise((resolve) => session.once('ping', resolve).once('remoteSettings', resolve));
      intervalPasses();
      await within(PATIENCE_MS, asked, () => 'the connection is not checked');
      stream.write(`<${n}>`);
      await until(() => client.received.includes(`<${n}>`), 'no piece'); // The answer to the check has come before it.
    }
    stream.end();
    t.equal((await client.response()).text, '<0><1><2><3>');
  });
}

t.test('a connection on which something arrives is not dead, though it answers no PING', async (t) => {
  const intervalPasses = intervalsFor(t);
  const upstream = await FrameUpstream.startedFor(t);
  const stream: [FrameConnection, number][] = [];
  upstream.onRequest = (connection, id) => stream.push([connection.headers(id, [[':status', '200']]), id]);
  const { client } = await gatewayFor(t, { baseUrl: upstream.url, env: ENV });
  const slow = await client();
  t.teardown(() => slow.close());
  slow.send(request('GET', '/'));
  await until(() => stream.length > 0, 'no request');
  const [connection, id] = stream[0]!;
  upstream.alive = false;
  for (let n = 0; n < 4; n++) {
    intervalPasses();
    connection.data(id, `<${n}>`);
    await until(() => slow.received.includes(`<${n}>`), 'no piece');
  }
  intervalPasses();
  intervalPasses();
  t.match(await slow.response(), { status: 200, text: '<0><1><2><3>', whole: false });
});

t.test('an upstream without SETTINGS gives 504 at the connect timeout, even after a reload', async (t) => {
  const upstream = await FrameUpstream.startedFor(t);
  upstream.onConnection = () => {};
  upstream.alive = false;
  const env = {
    BEARERD_TLS_CA_FILE: CA_FILE,
    BEARERD_CONNECT_TIMEOUT: '1s',
    BEARERD_RESPONSE_TIMEOUT: 'off',
  };
  const options = { baseUrl: upstream.url, env: { ...env, BEARERD_ROUTES: '/=none' } };
  const { get, gateway } = await gatewayFor(t, options);
  const asked = get('/');
  await until(() => upstream.connections.length > 0, 'no connection');
  await gateway.reconfigure(await configOf({ ...options, env: { ...ENV, BEARERD_CONNECT_TIMEOUT: '9m' } }));
  t.equal((await asked).status, 504);
});
