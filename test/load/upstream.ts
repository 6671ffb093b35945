import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Issuer } from './issuer.ts';

const SESSION = '/api/identity/v1/session';

/** The API: logs in by its issuer, and answers requests with a valid token as it is told to. */
export async function serve(
  issuer: Issuer,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.on('error', () => {});
    if (request.url === SESSION) {
      request.resume();
      void issuer.logIn().then((body) => {
        response.setHeader('content-type', 'application/json');
        response.end(body);
      });
    } else if (issuer.judge(request.headers.authorization) === 'good') {
      answer(request, response);
    } else {
      request.resume();
      response.statusCode = 401;
      response.end('the token is worth nothing');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
