import type { Route, RouteTable } from '../routes/route-table.ts';
import { type Command, print } from './command.ts';
import { configurationOf } from './configuration.ts';
import { EXIT } from './exit-codes.ts';
import { oneRequest } from './one-request.ts';
import { explain, explanationText } from './route-explanation.ts';
import { tableOf } from './unfilled-table.ts';

export const routes: Command = {
  synopsis: '[METHOD PATH] [--json] [--config FILE]',
  summary: 'prints the route table, or which route one request would take, and why',
  help: '\n  bearerd routes                  the table, in the order in which it is searched\n  bearerd routes GET /companies   explains one request; a path alone is a GET\n  --json                          the same as JSON\n',
  examples: ['bearerd routes --config bearerd.yaml', 'bearerd routes GET /companies/example.com --json'],
  variables: ['BEARERD_CONFIG', 'BEARERD_ROUTES'],
  options: { json: { type: 'boolean' } },
  positionals: [0, 2],
  settings: true,
  async run(values, positionals) {
    const request = oneRequest('routes', positionals);
    const isJson = values.json === true;
    const config = await configurationOf(values);
    const table = tableOf(config);
    if (request === undefined) {
      await print(isJson ? listJson(table) : list(table));
      return EXIT.done;
    }
    const explanation = explain(table, config, request);
    await print(isJson ? `${JSON.stringify(explanation)}\n` : explanationText(explanation));
    return EXIT.done;
  },
};

function list(table: RouteTable): string {
  const rows = inOrder(table).map((route) => [
    route.prefix,
    route.credentialName,
    methodsOf(route),
    destinationOf(route),
  ]);
  const all = [['PREFIX', 'CREDENTIAL', 'METHODS', 'UPSTREAM'], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((row) => row[column]!.length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** In the order in which they match: the longest prefix is looked for first. */
function inOrder({ routes: all }: RouteTable): Route[] {
  return [...all].sort((a, b) => b.prefix.length - a.prefix.length);
}

function listJson(table: RouteTable): string {
  const rows = inOrder(table).map((route) => ({
    route: route.prefix,
    credential: route.credentialName,
    methods: route.methods === undefined ? null : [...route.methods],
    upstream: route.denied ? null : destinationOf(route),
  }));
  return `${JSON.stringify(rows)}\n`;
}

function methodsOf({ methods }: Route): string {
  return methods === undefined ? 'any' : [...methods].join(',');
}

function destinationOf({ denied, upstreamOrigin, upstreamPrefix }: Route): string {
  return denied ? '-' : `${upstreamOrigin}${upstreamPrefix === '' ? '/' : upstreamPrefix}`;
}
