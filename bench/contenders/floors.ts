import { fileURLToPath } from 'node:url';
import { launch } from '../children.ts';
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

/** An empty server. */
export const NODE_HTTP = floor('node:http answering by itself', 'node-http.ts');

/** What Node leaves to a proxy: they do less than one, and so only stand beside some rows. */
export const FLOORS: readonly Contender[] = [NODE_HTTP, floor('two sockets in Node', 'raw-sockets.ts')];
