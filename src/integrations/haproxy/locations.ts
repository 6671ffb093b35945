import { isUnder } from '../../routes/prefixes.ts';
import type { Route } from '../../routes/route-table.ts';
import { literally, word } from './words.ts';

/**
 * What a reference begins with while it is mapped: one to the upstream's own origin, and a path of ours. None that has come
 * holds brackets (RFC 3986 §2).
 */
const OWN = '<own>';
const OURS = '<ours>';
/** Behind a prefix: it ends at a segment boundary. `//host` and `/\host` would name another host to the client. */
const BOUNDARY = '(?=[/?#>\\x22]|$)';
const NO_HOST = '(?=/(?![\\t]*[/\\\\])|[?#>\\x22]|$)';
/** A path and no host. */
const PATH = '(?=/(?![/\\\\]))';
/** Where the target of a link begins, or what it is about. */
const LINK = '(<|;[ \\t]*(?i:anchor)[ \\t]*=[ \\t]*\\x22)';

/** One thing after the other, as `s/from/to/`. */
type Step = readonly [from: string, to: string];

/**
 * Rules that make of a `Location`, and of the targets of a `Link`, on the upstream's own origin what the client would
 * ask us for, as forward/headers/location.ts does. Answers that bearerd has given are so already.
 */
export function locationRules(route: Route): readonly string[] {
  const steps = stepsOf(route);
  return [
    '# A redirect or a link to the upstream itself becomes one to here; from bearerd it is one already.',
    ...steps.map(
      ([from, to]) =>
        `http-response replace-header location ${word(`^${from}(.*)$`)} ${word(`${to}\\1`)} if { srv_id 1 }`,
    ),
    ...steps.map(([from, to], i) => {
      const found = i === 0 ? 'res.fhdr(link)' : 'var(res.link)';
      // Quoted twice: in the arguments, and on the line.
      const [pattern, into] = [LINK + from, `\\1${to}`].map((text) => text.replaceAll('\\', '\\\\'));
      const expression = word(`${found},regsub("${pattern}","${into}",g)`);
      return `http-response set-var(res.link) ${expression} if { srv_id 1 } { res.fhdr_cnt(link) 1 }`;
    }),
    'http-response set-header link %[var(res.link)] if { var(res.link) -m found }',
  ];
}

function stepsOf(route: Route): readonly Step[] {
  const targets = targetsOf(route);
  const origin = originPattern(route.upstreamOrigin);
  // The usual case: whatever path is asked for is the path that is sent.
  if (targets.every(({ from, to }) => from === '' && to === ''))
    return [
      [`${origin}(?=[?#>\\x22]|$)`, '/'],
      [`${origin}${NO_HOST}`, ''],
    ];
  return [
    [`${origin}${BOUNDARY}`, OWN],
    ...targets.flatMap(({ from, to }): readonly Step[] => {
      const there = `(?:${OWN}|${PATH})${literally(from)}`;
      if (to === undefined) return [[`${there}${BOUNDARY}`, route.upstreamOrigin + from]];
      if (to !== '') return [[`${there}${BOUNDARY}`, OURS + to]];
      return [
        [`${there}${NO_HOST}`, OURS],
        [`${there}(?=/)`, route.upstreamOrigin + from],
      ];
    }),
    [OWN, route.upstreamOrigin],
    [`${OURS}(?=[?#>\\x22]|$)`, '/'],
    [OURS, ''],
  ];
}

interface Target {
  readonly from: string;
  /** Undefined where it stays absolute. */
  readonly to: string | undefined;
}

/**
 * Its own prefix first; then those of other routes there, the one that leads deepest first; then those that another host
 * leads to, which stay absolute; then the base path. Left out are those that the base path would map in the same way,
 * or comes too late.
 */
function targetsOf(route: Route): readonly Target[] {
  const own = [route, ...route.siblings].map(
    ({ upstreamPrefix, prefix }): Target => ({ from: upstreamPrefix, to: prefix === '/' ? '' : prefix }),
  );
  const elsewhere = route.strangers.map(
    ({ upstreamPrefix }): Target => ({ from: upstreamPrefix, to: undefined }),
  );
  const all = [...own, ...elsewhere];
  const asBase = ({ from, to }: Target) => to !== undefined && from === route.basePath + to;
  const needed = all.filter(
    (target) => !asBase(target) || all.some((other) => !asBase(other) && isUnder(target.from, other.from)),
  );
  needed.push({ from: route.basePath, to: '' });
  return needed.filter(({ from }, i) => !needed.slice(0, i).some((other) => isUnder(from, other.from)));
}

/** The origin as users may write it; the scheme may be left out. */
function originPattern(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  const usual = protocol === 'https:' ? '443' : '80';
  const ports = port === '' ? `(?::0*${usual}|:)?` : `:0*${port}`;
  return `(?i:(?:${protocol})?//${literally(hostname)})${ports}`;
}
