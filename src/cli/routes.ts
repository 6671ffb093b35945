import { formatRate } from '../config/values/rates.ts';
import type { Route } from '../routes/route-table.ts';
import type { RoutesByHost } from '../routes/routes-by-host.ts';
import { type Command, print } from './command.ts';
import { configurationWithoutSecrets } from './configuration.ts';
import { EXIT } from './exit-codes.ts';
import { oneRequest } from './one-request.ts';
import { explain, explanationText } from './route-explanation.ts';
import { tablesOf } from './route-tables.ts';

export const routes: Command = {
  synopsis: '[METHOD PATH|URL] [--json] [--config FILE]',
  summary: 'prints the route table, or which route one request would take, and why',
  help: '\n  bearerd routes                  the table, in the order in which it is searched\n  bearerd routes GET /companies   explains one request; a path alone is a GET\n  bearerd routes GET http://orders.localhost:9180/x\n                                  the same for a request to that host\n  --json                          the same as JSON\n',
  examples: ['bearerd routes --config bearerd.yaml', 'bearerd routes GET /companies/example.com --json'],
  variables: ['BEARERD_CONFIG', 'BEARERD_ROUTES'],
  options: { json: { type: 'boolean' } },
  positionals: [0, 2],
  settings: true,
  async run(values, positionals) {
    const request = oneRequest('routes', positionals);
    const isJson = values.json === true;
    const config = await configurationWithoutSecrets(values);
    const tables = tablesOf(config);
    if (request === undefined) {
      await print(isJson ? listJson(tables) : list(tables));
      return EXIT.done;
    }
    const explanation = explain(tables, config, request);
    const { remedy: _, ...facts } = explanation;
    await print(isJson ? `${JSON.stringify(facts)}\n` : explanationText(explanation));
    return EXIT.done;
  },
};

const COLUMNS = ['PREFIX', 'CREDENTIAL', 'METHODS', 'LIMIT', 'UPSTREAM'];
/** Its column: there only if a route has one. */
const LIMIT = 3;

/** The table of each host, with an empty line between two. */
function list(tables: RoutesByHost): string {
  const isLimited = tables.routes.some(({ limit }) => limit !== undefined);
  const shown = (row: readonly string[]) => (isLimited ? row : row.toSpliced(LIMIT, 1));
  const columns = shown(COLUMNS);
  const groups = inOrder(tables).map((routes) => routes.map((route) => shown(rowOf(route))));
  const all = [columns, ...groups.flat()];
  const widths = columns.slice(0, -1).map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    `${row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()}\n`;
  return line(columns) + groups.map((rows) => rows.map(line).join('')).join('\n');
}

function rowOf(route: Route): readonly string[] {
  return [route.name, route.credentialName, methodsOf(route), limitOf(route) ?? '-', destinationOf(route)];
}

/** By table, each in the order in which its routes match: the longest prefix is looked for first. */
function inOrder({ tables }: RoutesByHost): readonly (readonly Route[])[] {
  return tables
    .map(({ routes: all }) => [...all].sort((a, b) => b.prefix.length - a.prefix.length))
    .filter((all) => all.length > 0);
}

function listJson(tables: RoutesByHost): string {
  const rows = inOrder(tables)
    .flat()
    .map((route) => ({
      route: route.name,
      credential: route.credentialName,
      methods: route.methods === undefined ? null : [...route.methods],
      upstream: route.denied ? null : destinationOf(route),
      ...(route.limit && { limit: limitOf(route) }),
    }));
  return `${JSON.stringify(rows)}\n`;
}

function methodsOf({ methods }: Route): string {
  return methods === undefined ? 'any' : [...methods].join(',');
}

function limitOf({ limit }: Route): string | undefined {
  return limit && formatRate(limit);
}

function destinationOf({ denied, upstreamOrigin, upstreamPrefix }: Route): string {
  return denied ? '-' : `${upstreamOrigin}${upstreamPrefix === '' ? '/' : upstreamPrefix}`;
}
