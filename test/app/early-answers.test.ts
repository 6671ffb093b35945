import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { later } from '../support/later.ts';
import { head, ok, RawUpstream, type UpstreamRequest } from '../support/raw-upstream.ts';

// An upstream that has read enough answers and closes while a part of the upload is unread: the kernel then resets the
// connection, and the answer has to be read in spite of the reset.

const REFUSED = `${head('413 Content Too Large', 'content-length: 9', 'connection: close')}too large`;

const CLOSES: Record<string, (request: UpstreamRequest) => unknown> = {
  'closes at once': ({ connection }) => connection.send(REFUSED).socket.destroySoon(),
  'ends its side, and closes a little later': ({ connection }) => {
    connection.send(REFUSED).end();
    later(30, () => connection.socket.destroy());
  },
};

for (const [what, close] of Object.entries(CLOSES)) {
  for (const framing of ['content-length: 4000000', 'transfer-encoding: chunked']) {
    t.test(
      `the answer of an upstream that answers during an upload and ${what} reaches the client (${framing})`,
      async (t) => {
        const upstream = await RawUpstream.startedFor(t);
        const { client, get, requests, internalErrors } = await gatewayFor(t, { baseUrl: upstream.url });
        const chunked = framing.startsWith('transfer');
        const piece = Buffer.from(
          chunked ? `${(50_000).toString(16)}\r\n${'a'.repeat(50_000)}\r\n` : 'a'.repeat(50_000),
        );
        upstream.onHead = (request) => {
          request.connection.socket.pause();
          close(request);
        };
        const got: string[] = [];
        for (let n = 0; n < 30; n++) {
          const one = await client();
          one.send(request('POST', '/', framing));
          for (let sent = 0; sent < n; sent++) one.send(piece);
          const feeding = (async () => {
            for (let more = 0; more < 10 && !one.socket.destroyed; more++) {
              one.send(piece);
              await sleep(2);
            }
          })();
          const response = await one.response();
          got.push(`${response.status} ${response.text} ${response.header('connection')}`);
          await feeding;
          await one.end();
        }
        t.same(new Set(got), new Set(['413 too large close']));
        upstream.onHead = undefined;
        upstream.onRequest = () => ok('ok');
        t.equal((await get('/')).text, 'ok');
        t.same(
          new Set(
            requests()
              .slice(0, 30)
              .map(({ status, code }) => `${status} ${code}`),
          ),
          new Set(['413 undefined']),
        );
        t.same(internalErrors(), []);
      },
    );
  }
}

t.test(
  'an answer without a length that ends with a reset reaches the client, and is not whole',
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const { client } = await gatewayFor(t, { baseUrl: upstream.url });
    upstream.onHead = ({ connection }) => {
      connection.socket.pause();
      connection.socket.write(`${head('413 Content Too Large')}too la`, () => connection.reset());
    };
    for (let n = 0; n < 20; n++) {
      const one = await client();
      one.send(request('POST', '/', 'content-length: 4000000')).send('a'.repeat(100_000));
      const feed = setInterval(() => one.send('a'.repeat(10_000)), 1);
      const response = await one.response();
      clearInterval(feed);
      t.equal(response.status, 413);
      t.equal(response.whole, false);
      one.close();
    }
  },
);

const ORDERLY_ENDS: Record<string, (request: UpstreamRequest) => unknown> = {
  'reads on': () => {},
  'closes behind it': ({ connection }) => connection.socket.on('finish', () => connection.socket.destroy()),
  'closes a little later': ({ connection }) => later(5, () => connection.socket.destroy()),
};

for (const [what, then] of Object.entries(ORDERLY_ENDS)) {
  for (const framing of ['content-length: 4000000', 'transfer-encoding: chunked']) {
    t.test(
      `an answer that ends with an orderly end of the connection is whole: an upstream that ${what} (${framing})`,
      async (t) => {
        const upstream = await RawUpstream.startedFor(t);
        const { client, internalErrors } = await gatewayFor(t, { baseUrl: upstream.url });
        upstream.onHead = (request) => {
          then(request);
          request.connection.send(`${head('413 Content Too Large')}too large`).end();
        };
        const piece = framing.startsWith('transfer')
          ? `${(10_000).toString(16)}\r\n${'a'.repeat(10_000)}\r\n`
          : 'a'.repeat(10_000);
        for (let n = 0; n < 20; n++) {
          const one = await client();
          one.send(request('POST', '/', framing)).send(piece);
          const feed = setInterval(() => one.send(piece), 1);
          const response = await one.response().finally(() => clearInterval(feed));
          t.match(response, { status: 413, text: 'too large', whole: true });
          one.close();
        }
        t.same(internalErrors(), []);
      },
    );
  }
}
