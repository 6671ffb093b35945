import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Issuer } from './issuer.ts';

const SESSION = '/api/identity/v1/session';

/** The API: its issuer answers logins, and `answer` answers requests with a valid token. */
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
      response.end('the token is invalid');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
