import { METHODS } from 'node:http';
import type { Config } from '../config/config.ts';
import { Secret } from '../config/secret.ts';
import { didYouMean, nearest } from '../config/values/nearest.ts';
import type { Credential, TokenSource } from '../credentials/credential.ts';
import { PROBLEMS, UsageError } from '../errors.ts';
import { logsIn, sessionPlaces } from '../gateway/logins.ts';
import { splitTarget } from '../routes/path.ts';
import { createRouteTable, type Route, type RouteTable, upstreamTarget } from '../routes/route-table.ts';
import { type Command, print } from './command.ts';
import { configurationOf } from './configuration.ts';
import { EXIT } from './exit-codes.ts';

export const routes: Command = {
  synopsis: '[METHOD PATH] [--config FILE]',
  summary: 'prints the route table, or which route one request would take, and why',
  help: '\n  bearerd routes                  the table, in the order in which it is searched\n  bearerd routes GET /companies   explains one request\n',
  examples: ['bearerd routes --config bearerd.yaml', 'bearerd routes GET /companies/example.com'],
  variables: ['BEARERD_CONFIG', 'BEARERD_ROUTES'],
  options: {},
  positionals: [0, 2],
  settings: true,
  async run(values, positionals) {
    if (positionals.length === 1) throw new UsageError('usage: bearerd routes [METHOD PATH]');
    const [method, target] = positionals;
    if (method !== undefined && !METHODS.includes(method.toUpperCase())) {
      throw new UsageError(
        `${method}: no method that can be received${didYouMean(nearest(method.toUpperCase(), METHODS))}`,
      );
    }
    const config = await configurationOf(values);
    const table = tableOf(config);
    await print(method === undefined ? list(table) : explain(table, method.toUpperCase(), target!));
    return EXIT.done;
  },
};

/** The table that the proxy would use, with credentials that hold no value: none is needed to choose. */
function tableOf(config: Config): RouteTable {
  const credentials = new Map<string, Credential>();
  for (const credential of config.credentials.values()) {
    const { name, header, elsewhere, origins } = credential;
    const placement = { name, header, ...(elsewhere && { elsewhere }), origins: new Set(origins) };
    credentials.set(
      name,
      logsIn(credential)
        ? { ...placement, kind: 'token', source: NO_SOURCE }
        : { ...placement, kind: 'api-key', headerValue: NO_KEY, secrets: [] },
    );
  }
  return createRouteTable(config.routes, credentials, sessionPlaces(config));
}

const NO_KEY = new Secret('');
const NO_SOURCE: TokenSource = {
  name: '',
  current: () => undefined,
  wait: () => Promise.reject(new Error('no token is needed to choose a route')),
  rejected: () => undefined,
};

function list({ routes: all }: RouteTable): string {
  const rows = [...all]
    .sort((a, b) => b.prefix.length - a.prefix.length)
    .map((route) => [route.prefix, route.credentialName, methodsOf(route), destinationOf(route)]);
  const table = [['PREFIX', 'CREDENTIAL', 'METHODS', 'UPSTREAM'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]!.length)));
  return table
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function explain(table: RouteTable, method: string, target: string): string {
  const split = splitTarget(target);
  const match = split === undefined ? undefined : table.match(method, split.path);
  if (split === undefined || match === undefined)
    return refusal('bad-path', 'a target begins with / and holds no #', undefined);
  if (!match.ok) return refusal(match.code, match.why, match.route);
  const { route } = match;
  const url = route.upstreamOrigin + upstreamTarget(route, split.path, split.query);
  return lines([
    ['result', 'forwarded'],
    ['route', route.prefix],
    ['credential', route.credentialName],
    ['upstream', url],
    ['why', `${route.prefix} is the longest prefix that matches ${split.path} at a segment boundary`],
  ]);
}

function refusal(code: keyof typeof PROBLEMS, why: string, route: Route | undefined): string {
  return lines([
    ['result', `refused with ${PROBLEMS[code].status} ${code}`],
    ['route', route?.prefix ?? 'none'],
    ['credential', route === undefined || code === 'bad-path' ? 'none' : route.credentialName],
    ['why', why],
  ]);
}

function lines(entries: readonly (readonly [string, string])[]): string {
  return entries.map(([key, value]) => `${`${key}:`.padEnd(12)}${value}\n`).join('');
}

function methodsOf({ methods }: Route): string {
  return methods === undefined ? 'any' : [...methods].join(',');
}

function destinationOf({ denied, upstreamOrigin, upstreamPrefix }: Route): string {
  return denied ? '-' : `${upstreamOrigin}${upstreamPrefix === '' ? '/' : upstreamPrefix}`;
}
