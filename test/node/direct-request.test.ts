import http, { type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { DirectRequest } from '../../src/node/direct-request.ts';
import { happens, until } from '../support/raw-client.ts';

// DirectRequest relies on how Node's parser and server treat a request. These tests fail if a new version of Node
// changes that.

const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n';
const CHUNKED = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';

/** The pieces that the consumer of a request got, and the request. */
interface Told {
  readonly request: DirectRequest;
  readonly response: http.ServerResponse;
  readonly pieces: string[];
  ended: boolean;
}

async function served(t: Test): Promise<{ client: Socket; all: Told[] }> {
  const all: Told[] = [];
  const server = http.createServer({ IncomingMessage: DirectRequest }, (request, response) => {
    const one: Told = { request, response, pieces: [], ended: false };
    all.push(one);
    request.on('data', () => t.fail('no event tells of a piece'));
    request.passBodyTo({
      take: (piece) => one.pieces.push(String(piece)),
      end: () => {
        one.ended = true;
      },
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  t.teardown(() => {
    client.destroy();
    server.close();
  });
  client.on('error', () => {}).resume();
  return { client, all };
}

/** The request that Node's parser reads at present. */
const parsed = (request: IncomingMessage) =>
  (request.socket as Socket & { parser: { incoming: IncomingMessage | null } }).parser.incoming;

t.test('the consumer gets the body and its end in the call in which the parser finds them', async (t) => {
  const { client, all } = await served(t);
  client.write(`${HEAD}123456789`);
  await until(() => all.length === 1, 'no request');
  const [one] = all;
  // The parser got head and body in one piece, so the consumer has both by now.
  t.same(one!.pieces, ['123456789']);
  t.ok(one!.ended && one!.request.complete && one!.request.readableEnded);
  t.equal(one!.request.readableLength, 0);
});

t.test('Node finishes the request with its answer, and reads the next one', async (t) => {
  const { client, all } = await served(t);
  for (const n of [1, 2]) {
    client.write(`${HEAD}123456789`);
    await until(() => all.at(-1)?.ended === true && all.length === n, 'no request');
    const { request, response } = all.at(-1)!;
    response.end('yes');
    await happens(response, 'close');
    t.equal(parsed(request), null);
    t.notOk(request.destroyed || request.aborted);
  }
  client.write(HEAD);
  await until(() => all.length === 3, 'no request');
  const { request, response } = all[2]!;
  response.end('too early');
  await happens(response, 'close');
  t.equal(parsed(request), request, 'the request is still being read');
  client.write('123456789');
  await until(() => all[2]!.ended, 'the request was not read to its end');
  t.equal(parsed(request), null);
});

t.test(
  'a paused request keeps pieces in their order, and pauses the connection when its buffer is full',
  async (t) => {
    const { client, all } = await served(t);
    client.write(`${CHUNKED}1\r\na\r\n`);
    await until(() => all[0]?.pieces.length === 1, 'no request');
    const { request, pieces } = all[0]!;
    request.pause();
    t.ok(request.isPaused());
    client.write('1\r\nb\r\n1\r\nc\r\n0\r\n\r\n');
    await until(() => request.complete, 'the request was not read');
    t.same(pieces, ['a']);
    t.notOk(all[0]!.ended || request.readableEnded);
    request.resume();
    t.same(pieces, ['a'], 'the waiting pieces come a moment later');
    await until(() => all[0]!.ended, 'the waiting pieces did not come');
    t.same(pieces, ['a', 'b', 'c']);

    const large = Buffer.alloc(4_000_000, 'x');
    all[0]!.response.end();
    client.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${large.length}\r\n\r\nfirst`);
    await until(() => all[1]?.pieces.length === 1, 'no second request');
    all[1]!.request.pause();
    client.write(large.subarray(5));
    await until(() => all[1]!.request.socket.isPaused(), 'the connection was not paused');
    t.same(all[1]!.pieces, ['first']);
    all[1]!.request.resume();
    await until(() => all[1]!.ended, 'the connection was not read again');
    t.equal(all[1]!.pieces.join('').length, large.length);
  },
);

t.test(
  'if the client leaves during the body, the request is aborted, and the consumer gets no end',
  async (t) => {
    const { client, all } = await served(t);
    client.write(`${HEAD}12`);
    await until(() => all[0]?.pieces.length === 1, 'no request');
    client.destroy();
    await until(() => all[0]!.request.aborted, 'the abort is not reported');
    t.notOk(all[0]!.ended);
  },
);

t.test('a request without a consumer is a usual stream', async (t) => {
  const server = http.createServer({ IncomingMessage: DirectRequest }, async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    t.ok(request.readableEnded);
    t.notOk(
      request.passBodyTo({ take: () => t.fail(), end: () => t.fail() }),
      'the stream has the body already',
    );
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: 'body' });
  t.equal(await answer.text(), 'body');
});
