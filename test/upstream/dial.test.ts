import { createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { dial, inTurns, type Lookup, onlyLoopback } from '../../src/upstream/dial.ts';
import { until } from '../support/raw-client.ts';
import { StallingRelay } from '../support/stalling-relay.ts';

const never = new AbortController().signal;

/** A lookup that knows one name, `two.example`. */
function resolvesTo(...addresses: string[]): Lookup {
  return (hostname, _options, callback) => {
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    setImmediate(() =>
      hostname === 'two.example' ? callback(null, found) : callback(new Error(hostname), []),
    );
  };
}

/** A server on 127.0.0.1, and its open connections. */
async function listener(t: Test) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return { port: (server.address() as { port: number }).port, open };
}

async function dialled(t: Test, addresses: string[], port: number): Promise<Socket> {
  const socket = await dial({ host: 'two.example', port }, resolvesTo(...addresses), { signal: never });
  t.teardown(() => socket.destroy());
  return socket;
}

t.test('if an address refuses the connection, the next one is tried at once', async (t) => {
  const { port } = await listener(t);
  const tries: number[] = [];
  for (let n = 0; n < 10; n++) {
    const before = performance.now();
    const socket = await dialled(t, ['127.0.0.3', '127.0.0.4', '127.0.0.1'], port);
    tries.push(performance.now() - before);
    t.equal(socket.remoteAddress, '127.0.0.1');
  }
  t.ok(Math.min(...tries) < 240, 'at least one attempt was not delayed (a busy machine may delay some)');
});

t.test(
  'if an address does not answer, the next one is tried beside it, and the first attempt ends when that connects',
  async (t) => {
    const { port, open } = await listener(t);
    const relay = await StallingRelay.startedFor(t, port);
    const other = createServer().listen(relay.port, '127.0.0.3');
    t.teardown(() => other.close());
    await until(() => other.listening, 'the other address does not listen');
    await relay.stall();
    const before = performance.now();
    const socket = await dialled(t, ['127.0.0.2', '127.0.0.3'], relay.port);
    t.equal(socket.remoteAddress, '127.0.0.3');
    t.ok(performance.now() - before >= 240, 'the first address had its full delay');
    relay.goOn();
    socket.destroy();
    await until(() => open.size === 0, 'the slow attempt still has a connection');
  },
);

t.test('a slow address still wins if the next one refuses', async (t) => {
  const { port } = await listener(t);
  const relay = await StallingRelay.startedFor(t, port);
  await relay.stall();
  setTimeout(() => relay.goOn(), 600);
  const socket = await dialled(t, ['127.0.0.2', '127.0.0.3'], relay.port);
  t.equal(socket.remoteAddress, '127.0.0.2');
});

t.test('if all addresses fail, the error has the code of the first', async (t) => {
  const { port } = await listener(t);
  await t.rejects(dialled(t, ['127.0.0.3'], port), { code: 'ECONNREFUSED', address: '127.0.0.3' });
  const error = await dialled(t, ['127.0.0.3', '127.0.0.4'], port).catch((reason: unknown) => reason);
  if (!(error instanceof AggregateError)) throw new Error('it fails');
  t.match(error, { code: 'ECONNREFUSED' });
  t.same(
    error.errors.map(({ address }: { address: string }) => address),
    ['127.0.0.3', '127.0.0.4'],
  );
});

t.test(
  'the address families take turns, beginning with the family of the first address (RFC 8305 §4)',
  async (t) => {
    const turns = (...addresses: string[]) =>
      inTurns(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
        .map(({ address }) => address)
        .join(' ');
    t.equal(turns('1.1.1.1', '1.1.1.2', '1.1.1.3', '::2', '::3'), '1.1.1.1 ::2 1.1.1.2 ::3 1.1.1.3');
    t.equal(turns('::2', '1.1.1.1', '1.1.1.2'), '::2 1.1.1.1 1.1.1.2');
    t.equal(turns('::2', '::3'), '::2 ::3');
    t.equal(turns(), '');
  },
);

t.test('a name without an address is an error, and so is an unknown name', async (t) => {
  await t.rejects(dial({ host: 'two.example', port: 1 }, resolvesTo(), { signal: never }), {
    code: 'ENOTFOUND',
  });
  await t.rejects(dial({ host: 'other.example', port: 1 }, resolvesTo(), { signal: never }), {
    message: 'other.example',
  });
});

t.test('in clear text only loopback addresses of a name are used', async (t) => {
  const found = (...addresses: string[]) =>
    new Promise((resolve) =>
      onlyLoopback(resolvesTo(...addresses))('two.example', { all: true, hints: 0 }, (error, kept) =>
        resolve(error ?? kept.map(({ address }) => address)),
      ),
    );
  const own = ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'];
  const others = ['192.0.2.1', '0.0.0.0', '::', '::ffff:192.0.2.1', 'fe80::1', '2001:db8::127'];
  t.same(await found(...others, ...own), own);
  for (const other of others) t.match(await found(other), { code: 'ERR_NOT_LOOPBACK' }, other);
  const to = (host: string) => ({ host, port: 1 });
  const find = (...addresses: string[]) => onlyLoopback(resolvesTo(...addresses));
  await t.rejects(dial(to('two.example'), find(), { signal: never }), { code: 'ENOTFOUND' });
  await t.rejects(dial(to('other.example'), find(), { signal: never }), { message: 'other.example' });
});

t.test('an IP address needs no lookup', async (t) => {
  const { port } = await listener(t);
  const socket = await dial({ host: '127.0.0.1', port }, () => t.fail('the address was looked up'), {
    signal: never,
  });
  socket.destroy();
  await t.rejects(dial({ host: '::1', port }, () => t.fail('the address was looked up'), { signal: never }));
});

t.test('an abort ends the lookup and every attempt', async (t) => {
  const reason = new Error('too late');
  await t.rejects(
    dial({ host: 'two.example', port: 1 }, () => {}, { signal: AbortSignal.abort(reason) }),
    reason,
  );
  const resolving = new AbortController();
  const search = dial({ host: 'two.example', port: 1 }, () => {}, resolving);
  resolving.abort(reason);
  await t.rejects(search, reason);

  const { port, open } = await listener(t);
  const relay = await StallingRelay.startedFor(t, port);
  await relay.stall();
  const connecting = new AbortController();
  const attempt = dial(
    { host: 'two.example', port: relay.port },
    resolvesTo('127.0.0.2', '127.0.0.2'),
    connecting,
  );
  setTimeout(() => connecting.abort(reason), 300);
  await t.rejects(attempt, reason);
  relay.goOn();
  await until(() => open.size === 0, 'an attempt goes on');
});
