import type { LaneRule, LaneTable } from '../../routes/lanes.ts';
import type { Route } from '../../routes/route-table.ts';
import { backendName, usesOf } from './backends.ts';
import type { FastRoute } from './fast-route.ts';
import { literally, word } from './words.ts';

export interface Rules {
  readonly tables: readonly LaneTable[];
  readonly fast: readonly FastRoute[];
  /** The path of the map with the credentials. */
  readonly map: string;
}

/** Matches a `Host` with this name and any port. */
export function hostPattern(name: string): string {
  return `^${name}(?::[0-9]{0,5})?$`;
}

/** Chooses the backend of each plain request. */
export function ruleLines({ tables, fast, map }: Rules): readonly string[] {
  const byRoute = new Map(fast.map((each) => [each.route, each]));
  const names = new Set(fast.map(({ credential }) => credential.name));
  return [
    '# A credential is in the map while it may be sent. Without it the request goes to bearerd, which knows why.',
    ...[...names].map((name) => `acl has_${name} str(${name}),map(${map}),set-var(txn.credential) -m found`),
    '',
    '# The first match decides. bearerd refuses a prefix in another letter case, so no shorter prefix may match it.',
    ...tables.flatMap((table) => tableLines(table, byRoute)),
  ];
}

/** The rules for one host. Its requests use no others. */
function tableLines({ host, rules }: LaneTable, fast: ReadonlyMap<Route, FastRoute>): readonly string[] {
  const lines = (asked: string) =>
    rules.flatMap((rule) => ruleLine(rule, rule.route && fast.get(rule.route), asked));
  if (host === undefined) return lines('');
  const asked = `asks_for_${host}`;
  return [
    `# Requests for ${host} use these routes only.`,
    `acl ${asked} req.fhdr(host) -m reg -i ${word(hostPattern(literally(host)))}`,
    ...lines(` ${asked}`),
    `use_backend bearerd if ${asked}`,
    '',
  ];
}

/** @param asked the condition on the host with a blank before it; empty for none */
function ruleLine({ begins, anyEnd }: LaneRule, to: FastRoute | undefined, asked: string): readonly string[] {
  if (anyEnd) return [`use_backend bearerd if${asked} { path_beg -i ${begins} }`];
  const root = begins === '/';
  const slow = root
    ? `use_backend bearerd${asked && ` if${asked}`}`
    : `use_backend bearerd if${asked} { path -i ${begins} } ||${asked} { path_beg -i ${begins}/ }`;
  if (to === undefined) return [slow];
  const here = `at_${to.name.slice(3)}`;
  const methods = to.route.methods === undefined ? '' : ` { method ${[...to.route.methods].join(' ')} }`;
  const condition = `${asked}${root ? '' : ` ${here}`}${methods} has_${to.credential.name}`;
  return [
    ...(root ? [] : [`acl ${here} path ${begins}`, `acl ${here} path_beg ${begins}/`]),
    ...usesOf(to).map(
      (use) =>
        `use_backend ${backendName(to, use)} if${use === 'again' ? ' idempotent !has_body' : ''}${condition}`,
    ),
    ...(root ? [] : [slow]),
  ];
}
