import http from 'node:http';

/** What every contender forwards to: it answers at once, and says which credential came. Prints its port. */
const ANSWER = Buffer.alloc(300, 'x');

const server = http.createServer((request, response) => {
  if (request.url === '/api/identity/v1/session') {
    request.resume();
    response.setHeader('content-type', 'application/json');
    return void response.end('{"accessToken":"bench-token","expires_in":3600}');
  }
  request.resume();
  request.on('end', () => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': ANSWER.length,
      'x-authorization': request.headers.authorization ?? '',
    });
    response.end(ANSWER);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port));
