import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { launch } from '../children.ts';
import type { Contender } from './contender.ts';

/** A library for Node as it comes, without logs, with the header as the only thing added. */
function library(name: string, script: string): Contender {
  const manifest = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const file = fileURLToPath(new URL(`servers/${script}`, import.meta.url));
  return {
    name,
    version,
    warmsUp: true,
    overTls: false,
    launch: (port, origin) => ({
      child: launch(process.execPath, [file, String(port), `http://${origin.host}:${origin.port}`]),
    }),
  };
}

export const fastifyHttpProxy = library('@fastify/http-proxy', 'fastify-http-proxy.ts');
export const httpProxy3 = library('http-proxy-3', 'http-proxy-3.ts');
export const httpxy = library('httpxy', 'httpxy.ts');
