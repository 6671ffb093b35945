import type { LaneRule, LaneTable } from '../../routes/lanes.ts';
import type { Route } from '../../routes/route-table.ts';
import { backendName, usesOf } from './backends.ts';
import type { FastRoute } from './fast-route.ts';
import { literally, word } from './words.ts';

export interface Rules {
  readonly tables: readonly LaneTable[];
  readonly fast: readonly FastRoute[];
  /** The map that holds the credentials. */
  readonly map: string;
}

/** A `Host` with this name, and any port. */
export function hostPattern(name: string): string {
  return `^${name}(?::[0-9]{0,5})?$`;
}

/** Which requests go to which backend, of those that are plain. */
export function ruleLines({ tables, fast, map }: Rules): readonly string[] {
  const byRoute = new Map(fast.map((each) => [each.route, each]));
  const names = new Set(fast.map(({ credential }) => credential.name));
  return [
    '# At hand for the lane where it is in the map; where not, there is no token, and bearerd knows why.',
    ...[...names].map((name) => `acl has_${name} str(${name}),map(${map}),set-var(txn.credential) -m found`),
    '',
    "# The first that fits. In other letters a path is bearerd's to refuse: no shorter prefix may take it.",
    ...tables.flatMap((table) => tableLines(table, byRoute)),
  ];
}

/** A host's routes are for its requests alone, which see no others. */
function tableLines({ host, rules }: LaneTable, fast: ReadonlyMap<Route, FastRoute>): readonly string[] {
  const lines = (asked: string) =>
    rules.flatMap((rule) => ruleLine(rule, rule.route && fast.get(rule.route), asked));
  if (host === undefined) return lines('');
  const asked = `asks_for_${host}`;
  return [
    `# For ${host}, whose requests see no other routes.`,
    `acl ${asked} req.fhdr(host) -m reg -i ${word(hostPattern(literally(host)))}`,
    ...lines(` ${asked}`),
    `use_backend bearerd if ${asked}`,
    '',
  ];
}

/** @param asked the condition on the host, if there is one, with a blank before it */
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
