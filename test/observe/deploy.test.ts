import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parse, stringify } from 'yaml';
import { gatewayFor, request } from '../support/gateway.ts';
import { ask } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

// The metrics, and the alerts and the dashboard in deploy/.

const fileAt = (path: string) => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));
const ALERTS = fileAt('prometheus/alerts.yaml');
const DASHBOARD = fileAt('grafana/bearerd.json');

const run = (args: string[], input?: string, cwd?: string) =>
  spawnSync('promtool', args, {
    encoding: 'utf8',
    ...(input !== undefined && { input }),
    ...(cwd && { cwd }),
  });
const skip = run(['--version']).status !== 0 && 'there is no promtool (Debian: prometheus)';

interface Alerts {
  readonly groups: { readonly rules: { readonly alert: string; readonly expr: string }[] }[];
}
interface Dashboard {
  readonly panels: { readonly title: string; readonly targets: { readonly expr: string }[] }[];
  readonly templating: { readonly list: { readonly query: string }[] };
}

const alerts = parse(readFileSync(ALERTS, 'utf8')) as Alerts;
const dashboard = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as Dashboard;
const alertExpressions = alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
const panelExpressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, {
  baseUrl: upstream.url,
  env: { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' },
});
await proxy.get('/');
const { text } = await ask(proxy.adminPort, request('GET', '/metrics'));

/** Every name that a query may use; a histogram has three. */
function shownNames(): Set<string> {
  const names = new Set<string>();
  for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of suffixes) names.add(`${name}${suffix}`);
  }
  return names;
}

t.test('the names of our metrics pass promtool', { skip }, async (t) => {
  // Node's own metrics, named by prom-client.
  const ours = text.replace(/^(?:# \w+ )?(?:nodejs|process)_.*\n/gm, '');
  const { status, stdout, stderr } = run(['check', 'metrics'], ours);
  t.equal(stdout + stderr, '');
  t.equal(status, 0);
});

t.test('alerts and dashboard use only metrics that /metrics shows', async (t) => {
  const shown = shownNames();
  const queries = dashboard.templating.list.map(({ query }) => query);
  const all = [...alertExpressions, ...panelExpressions, ...queries].join('\n');
  const used = new Set(all.match(/\b(?:bearerd|process|nodejs)_\w+/g));
  t.ok(used.size > 10);
  t.same(
    [...used].filter((name) => !shown.has(name)),
    [],
  );
});

t.test('no two alerts watch the same increase', async (t) => {
  const increases = alertExpressions.flatMap((expr) => expr.match(/increase\([^[]+/g) ?? []);
  t.ok(increases.length > 3);
  t.same(increases, [...new Set(increases)]);
});

t.test('each of our metrics is in the docs', async (t) => {
  const docs = readFileSync(fileURLToPath(new URL('../../docs/metrics.md', import.meta.url)), 'utf8');
  const names = [...text.matchAll(/^# TYPE (bearerd_\S+)/gm)].map(([, name]) => name!);
  t.same(
    names.filter((name) => !docs.includes(`\`${name}\``)),
    [],
  );
});

t.test('the alerts are valid rules, and fire when they should', { skip }, async (t) => {
  const check = run(['check', 'rules', ALERTS]);
  t.equal(check.status, 0, check.stdout + check.stderr);
  const tests = run(['test', 'rules', 'alerts.test.yaml'], undefined, dirname(ALERTS));
  t.equal(tests.status, 0, tests.stdout + tests.stderr);
});

t.test('each query of the dashboard is valid', { skip }, async (t) => {
  const rules = panelExpressions.map((expr, n) => ({
    record: `panel:${n}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
  }));
  const file = join(t.testdir({}), 'panels.yaml');
  writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }));
  const { status, stdout, stderr } = run(['check', 'rules', file]);
  t.equal(status, 0, stdout + stderr);
});
