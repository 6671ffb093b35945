import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { CA_FILE, Http2Upstream } from '../support/h2-upstream.ts';
import { PATIENCE_MS, RawClient, until, within } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream } from '../support/raw-upstream.ts';

// A client that leaves while the proxy reads nothing from it: the FIN waits behind unread bytes.

const MIB = 1 << 20;

type Leave = (client: RawClient) => void;
const LEAVES: Readonly<Record<string, Leave>> = {
  'is reset': (client) => client.reset(),
  'is closed': (client) => client.close(),
  'is half-closed': (client) => client.halfClose(),
};

/** A Unix socket has no reset, and a process that does not read does not see the half-close. */
function waysToLeave(over: string): [how: string, leave: Leave][] {
  return Object.entries(LEAVES).filter(([how]) => over === 'TCP' || how === 'is closed');
}

/** Node delays a half-close until it has sent all bytes. */
function waysToLeaveAtOnce(over: string): [how: string, leave: Leave][] {
  return waysToLeave(over).filter(([how]) => how !== 'is half-closed');
}

const socketPath = () => join(tmpdir(), `bearerd-${randomUUID()}.sock`);
const listenOn = (path: string) => ({ BEARERD_LISTEN: `127.0.0.1:0,unix:${path}` });

/** Sends until the proxy reads no more. */
async function fill(client: RawClient): Promise<void> {
  for (let mib = 0; mib < 1_000; mib++) {
    const taken = await new Promise<boolean>((resolve) => {
      const late = setTimeout(() => resolve(false), 400);
      client.socket.write(Buffer.alloc(MIB), () => {
        clearTimeout(late);
        resolve(true);
      });
    });
    if (!taken) return;
  }
  throw new Error('the proxy reads a gigabyte that goes nowhere');
}

async function gone(gateway: TestGateway, what: string): Promise<void> {
  await until(() => gateway.gateway.inFlight === 0, `${what}: the request does not end`);
}

const path = socketPath();
const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: listenOn(path) });
const ADDRESSES = { TCP: () => proxy.port, 'a Unix socket': () => path };
t.beforeEach(() => upstream.reset());

for (const [over, where] of Object.entries(ADDRESSES)) {
  t.test(`over ${over}: an upload that the upstream does not read ends when the client leaves`, async (t) => {
    upstream.onHead = ({ connection }) => {
      connection.socket.pause();
    };
    for (const [how, leave] of waysToLeaveAtOnce(over)) {
      const client = await RawClient.to(where());
      const before = upstream.requests.length;
      client.send(`${request('PUT', '/up', 'content-length: 500000000')}begins`);
      await until(() => upstream.requests.length > before, 'no request');
      await fill(client);
      const { connection } = upstream.last;
      leave(client);
      await gone(proxy, how);
      connection.socket.resume();
      await connection.closed;
      t.match(proxy.requests().at(-1), { method: 'PUT', aborted: true, code: undefined }, how);
    }
  });

  t.test(`over ${over}: a tunnel that the upstream does not read ends when the client leaves`, async (t) => {
    upstream.onHead = ({ connection }) => {
      connection.socket.pause();
      return head('101 Switching Protocols', 'connection: upgrade', 'upgrade: x');
    };
    for (const [how, leave] of waysToLeaveAtOnce(over)) {
      const client = await RawClient.to(where());
      client.send(request('GET', '/', 'connection: upgrade', 'upgrade: x'));
      await client.response();
      await fill(client);
      const { connection } = upstream.last;
      leave(client);
      await gone(proxy, how);
      connection.socket.resume();
      await connection.closed;
      t.match(proxy.requests().at(-1), { status: 101 }, how);
    }
  });

  t.test(
    `over ${over}: a request with many others pipelined behind it ends when the client leaves`,
    async (t) => {
      upstream.onRequest = () => undefined;
      for (const [how, leave] of waysToLeave(over)) {
        const client = await RawClient.to(where());
        const before = upstream.requests.length;
        client.send(request('GET', '/').repeat(200));
        client.send(request('GET', '/').repeat(20_000));
        await until(() => upstream.requests.length > before, 'no request');
        const { connection } = upstream.last;
        await new Promise((resolve) => setTimeout(resolve, 200));
        leave(client);
        await gone(proxy, how);
        await connection.closed;
        t.equal(upstream.requests.length, before + 1, `${how}: no pipelined request goes upstream`);
      }
    },
  );

  t.test(`over ${over}: a large upload that waits for a token ends when the client leaves`, async (t) => {
    const late = await RawUpstream.startedFor(t);
    let login: ((bytes: Buffer) => void) | undefined;
    late.onLogin = () => new Promise((resolve) => (login = resolve));
    const own = socketPath();
    const waiting = await gatewayFor(t, { baseUrl: late.url, env: listenOn(own), loggedIn: false });
    const begin = async () => {
      const client = await RawClient.to(over === 'TCP' ? waiting.port : own);
      client.send(request('PUT', '/up', `content-length: ${MIB}`)).send(Buffer.alloc(MIB - 1));
      await until(() => waiting.gateway.inFlight > 0, 'no request');
      // By now the proxy has read all that it will read of the body.
      await new Promise((resolve) => setTimeout(resolve, 200));
      return client;
    };
    for (const [how, leave] of waysToLeave(over)) {
      leave(await begin());
      await gone(waiting, how);
    }
    const client = await begin();
    await until(() => login !== undefined, 'no login');
    client.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
    login!(grant('tok-1'));
    await gone(waiting, 'after the token');
    t.same(late.requests, [], 'nothing goes upstream for a client that has left');
    t.same(waiting.internalErrors(), []);
  });
}

t.test('a client that leaves while the HTTP/2 window is used up is noticed', async (t) => {
  const h2 = await Http2Upstream.startedFor(t);
  const gateway = await gatewayFor(t, { baseUrl: h2.url, env: { BEARERD_TLS_CA_FILE: CA_FILE } });
  h2.onHead = ({ stream }) => {
    stream.pause();
  };
  for (const [how, leave] of Object.entries(LEAVES)) {
    const client = await gateway.client();
    const before = h2.requests.length;
    client.send(request('PUT', '/up', `content-length: ${MIB}`)).send(Buffer.alloc(MIB - 1));
    await until(() => h2.requests.length > before, 'no request');
    await new Promise((resolve) => setTimeout(resolve, 300));
    leave(client);
    await gone(gateway, how);
    t.equal(await h2.requests.at(-1)!.ended, 'broken', how);
  }
  t.same(gateway.internalErrors(), []);
});

t.test('a drain does not wait for clients that have left', async (t) => {
  const closing = await gatewayFor(t, { baseUrl: upstream.url });
  upstream.onHead = ({ connection }) => {
    connection.socket.pause();
  };
  const client = await closing.client();
  client.send(`${request('PUT', '/up', 'content-length: 500000000')}begins`);
  await until(() => upstream.requests.length === 1, 'no request');
  await fill(client);
  client.close();
  const drained = closing.gateway.drain(2 * PATIENCE_MS, 'SIGTERM');
  t.equal(await within(PATIENCE_MS, drained, () => 'the drain waits'), 0, 'no request is cut off');
});

t.test('a client that is only slow keeps its connection', async (t) => {
  upstream.onHead = ({ connection }) => {
    connection.socket.pause();
    setTimeout(() => connection.socket.resume(), 2_500);
  };
  const body = Buffer.alloc(24 * MIB);
  const client = await proxy.client();
  client.send(request('PUT', '/up', `content-length: ${body.length}`)).send(body);
  await until(() => upstream.requests.length === 1, 'no request');
  const { message, connection } = upstream.last;
  t.equal((await message).body.length, body.length);
  connection.send(ok('whole'));
  t.equal((await client.response()).text, 'whole');
  client.close();
});

t.test('none of these tests caused an internal error', async (t) => t.same(proxy.internalErrors(), []));
