import { createHash } from 'node:crypto';
import http from 'node:http';
import type { Running } from './contenders/contender.ts';
import { JSON_BODY, LARGE, PATHS, TOKEN } from './fixtures.ts';
import { WrongAnswer } from './load/client.ts';
import { Crowd } from './load/closed-loop.ts';
import { DOWNLOAD, JSON_POST, SMALL_GET, UPLOAD } from './load/exchange.ts';

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** A contender that skips a part of the work would look fast: each part is checked before anything is measured. */
export async function verify({ name, port }: Running): Promise<void> {
  for (const exchange of [SMALL_GET, JSON_POST, DOWNLOAD, UPLOAD]) {
    const crowd = await Crowd.to(port, 2, exchange).catch((error: Error) => fail(name, error.message));
    crowd.close();
  }
  for (const body of [JSON_BODY, LARGE]) {
    const { status, body: answer } = await ask(port, 'POST', PATHS.verify, body);
    if (status !== 200) fail(name, `POST ${body.length} bytes: ${status}`);
    const { authorization, sha256 } = JSON.parse(answer.toString()) as {
      authorization: string[];
      sha256: string;
    };
    if (authorization.join() !== `Bearer ${TOKEN}`)
      fail(name, `Authorization upstream: ${authorization.join()}`);
    if (sha256 !== digest(body)) fail(name, `another body of ${body.length} bytes arrived upstream`);
  }
  const large = await ask(port, 'GET', PATHS.large);
  if (digest(large.body) !== digest(LARGE)) fail(name, 'another body of 10 MB came back');
  const { status } = await ask(port, 'GET', '/api/nothing');
  if (status !== 404) fail(name, `a 404 became ${status}`);
}

/** A client that knows HTTP, with a credential of its own, which must not arrive. */
function ask(port: number, method: string, path: string, body?: Buffer): Promise<Answer> {
  const headers = { authorization: 'Bearer of-the-client', ...(body && { 'content-length': body.length }) };
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: '127.0.0.1', port, path, method, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode!, body: Buffer.concat(chunks) }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function fail(name: string, what: string): never {
  throw new WrongAnswer(`${name}: ${what}`);
}
