import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ConfigError } from '../base/config-error.ts';
import { Problem } from '../base/problem.ts';
import type { Config } from '../config/config.ts';
import { parsePath } from '../config/values/paths.ts';
import { routeName } from '../config/values/route-names.ts';
import { answerProblem } from '../forward/client/problem.ts';
import { isLoopback } from '../listen/arrival.ts';
import { asksForKey } from '../listen/callers.ts';
import { arrivalOf } from '../listen/client-connection.ts';
import { proxyPlugin } from '../listen/proxy-plugin.ts';
import type { ConfigObject } from './config-object.ts';
import { type LibraryOptions, openHosted } from './hosted.ts';
import { connectInjected } from './injected.ts';
import { routableBelow } from './routable.ts';

export interface BearerdPluginOptions extends LibraryOptions {
  readonly config: ConfigObject;
  /** Fastify's own option: the path prefix of the plugin. */
  readonly prefix?: string;
}

/**
 * Routes of the host's application that lead to the upstream. The host's hooks run first, and no parser reads the body.
 * Then bearerd takes over the raw request and answers it without Fastify. The plugin ends with the application.
 */
async function bearerd(app: FastifyInstance, { config, env, log }: BearerdPluginOptions): Promise<void> {
  const mount = mountOf(app);
  if (Object.hasOwn(config ?? {}, 'listen'))
    throw new ConfigError([
      { key: 'listen', problem: 'has no meaning in a plugin: the application listens' },
    ]);
  let inForce: Config | undefined;
  const hosted = await openHosted(config, {
    ...(env !== undefined && { env }),
    ...(log !== undefined && { log }),
    defaults: { BEARERD_ADMIN_LISTEN: 'off' },
    adapt: (loaded) => {
      inForce = mountedAt(mount, loaded);
      return inForce;
    },
  });
  app.addHook('onClose', () => hosted.close());
  const targetOf = routableBelow(app, mount);
  const take = (request: IncomingMessage, response: ServerResponse, target: string) => {
    connectInjected(request, response);
    // The same rule as for listeners of our own: without a caller key, only loopback.
    const open = inForce !== undefined && (asksForKey(inForce) || inForce.allowRemoteCallers);
    if (open || isLoopback(arrivalOf(request.socket))) hosted.gateway.take(request, response, target);
    else answerProblem(response, new Problem('caller-key-required'));
  };
  await app.register(proxyPlugin, { targetOf: ({ raw }: FastifyRequest) => targetOf(raw), take });
}

/** The prefix of the plugin and of plugins around it; empty at the root. */
function mountOf({ prefix, initialConfig }: FastifyInstance): string {
  if (initialConfig.http2 === true) throw new Error('bearerd takes requests of HTTP/1.1 only, not of http2');
  const parsed = prefix === '' ? { value: '' } : parsePath(prefix);
  if ('problem' in parsed) throw new Error(`the prefix ${parsed.problem}`);
  if (/[:*]/.test(parsed.value)) throw new Error('the prefix may hold no parameters');
  return parsed.value === '/' ? '' : parsed.value;
}

/**
 * The configuration with the mount in front of each route's prefix. `rewrite` restores the path, and so a `Location` of
 * the upstream is mapped to a path below the mount.
 */
function mountedAt(mount: string, config: Config): Config {
  if (mount === '') return { ...config, listen: [] };
  const mounted = (prefix: string) => (prefix === '/' ? mount : mount + prefix);
  const renamed = new Map(
    config.routes.map((route) => [routeName(route), routeName({ ...route, prefix: mounted(route.prefix) })]),
  );
  return {
    ...config,
    listen: [],
    routes: config.routes.map(({ prefix, rewrite = prefix, ...route }) => ({
      ...route,
      prefix: mounted(prefix),
      rewrite,
    })),
    callers: config.callers.map(({ routes, ...caller }) => ({
      ...caller,
      ...(routes && { routes: routes.map((name) => renamed.get(name) ?? name) }),
    })),
  };
}

// The metadata of Fastify plugins. `skip-override` is not set, so that the plugin stays encapsulated.
Object.assign(bearerd, { [Symbol.for('plugin-meta')]: { name: 'bearerd', fastify: '5.x' } });

// biome-ignore lint/style/noDefaultExport: Fastify's convention for plugins.
export default bearerd;
