import { fileURLToPath } from 'node:url';
import { launch } from '../children.ts';
import { SMALL } from '../fixtures.ts';
import type { Contender } from './contender.ts';

function floor(name: string, script: string): Contender {
  const file = fileURLToPath(new URL(`servers/${script}`, import.meta.url));
  return {
    name,
    version: process.versions.node,
    warmsUp: true,
    overTls: false,
    launch: (port, { host, port: upstream }) => ({
      child: launch(process.execPath, [file, String(port), `http://${host}:${upstream}`]),
    }),
  };
}

/** What Node leaves to a proxy: they do less than one, and so are in one row only. */
export const FLOORS: readonly Contender[] = [
  floor('node:http answering by itself', 'node-http.ts'),
  floor('two sockets in Node', 'raw-sockets.ts'),
];

/** What any program on Node takes. As plain JavaScript: to read TypeScript takes Node some 30 MB more. */
export const EMPTY_SERVER: Contender = {
  name: 'Node alone, an empty server',
  version: process.versions.node,
  warmsUp: true,
  overTls: false,
  launch: (port) => {
    // The client compares each answer with what it should be.
    const answer = `response.setHeader('content-length', body.length); response.end(body)`;
    const script = `const body = Buffer.from('${SMALL.toString('base64')}', 'base64'); require('node:http').createServer((_, response) => { ${answer}; }).listen(${port}, '127.0.0.1')`;
    return { child: launch(process.execPath, ['--eval', script]) };
  },
};
