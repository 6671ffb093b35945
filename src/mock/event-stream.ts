import type { ServerResponse } from 'node:http';
import { wait } from './http.ts';

const EVENTS = 5;
const EVERY_MS = 200;

/** A few server-sent events, slow enough to see whether something on the way delays them. */
export async function sendEvents(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  for (let id = 1; id <= EVENTS; id += 1) {
    response.write(`id: ${id}\nevent: tick\ndata: {"tick":${id},"of":${EVENTS}}\n\n`);
    if (!(await wait(response, EVERY_MS))) return;
  }
  response.end();
}
