import { createServer } from 'node:http';
import { SMALL } from '../../fixtures.ts';

// Node's HTTP server answering by itself: what it leaves to anything that is built on it. Arguments: port.
createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': SMALL.length });
  response.end(SMALL);
}).listen(Number(process.argv[2]), '127.0.0.1');
