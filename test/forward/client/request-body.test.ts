import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import t from 'tap';
import type { Departures } from '../../../src/forward/client/departures.ts';
import { RequestBody } from '../../../src/forward/client/request-body.ts';

const departures = { watch: () => {}, forget: () => {} } as unknown as Departures;

t.test('a client that was held up has progressed when the upstream takes more', async (t) => {
  const request = new IncomingMessage(new Socket());
  let progressed = 0;
  const body = new RequestBody({ request, head: { contentLength: 10 } }, departures, () => progressed++);
  await new Promise<void>((resolve) => {
    body.prefetch(resolve);
    request.push('12345');
  });
  body.begin({ write: () => false, end: () => {} });
  body.take(Buffer.from('678'));
  t.equal(body.isPaused, true);
  t.equal(progressed, 2);
  body.drained();
  t.equal(body.isPaused, false);
  t.equal(progressed, 3, 'a time limit begins anew');
  body.take(Buffer.from('90'));
  body.end();
  body.drained();
  t.equal(progressed, 5, 'the end of the request is the last progress');
});
