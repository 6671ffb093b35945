import { bearerd } from './bearerd.ts';
import { caddy } from './caddy.ts';
import type { Contender } from './contender.ts';
import { haproxy } from './haproxy.ts';
import { nginx } from './nginx.ts';
import { fastifyHttpProxy, httpProxy3, httpxy } from './node-proxies.ts';

const ALL: readonly Contender[] = [bearerd, haproxy, nginx, caddy, fastifyHttpProxy, httpProxy3, httpxy];

export const INSTALLED = ALL.filter(({ version }) => version !== undefined);
export const MISSING = ALL.filter(({ version }) => version === undefined);
