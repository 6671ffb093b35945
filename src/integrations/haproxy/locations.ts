import { isUnder } from '../../routes/prefixes.ts';
import type { Route } from '../../routes/route-table.ts';
import { literally, word } from './words.ts';

/**
 * Placeholders in a reference while it is mapped: for the upstream's own origin, and for a path of this proxy. No
 * reference contains them, because brackets are not allowed there (RFC 3986 §2).
 */
const OWN = '<own>';
const OURS = '<ours>';
/** What may follow a prefix at a segment boundary. `NO_HOST` excludes `//host` and `/\host`, which name another host. */
const BOUNDARY = '(?=[/?#>\\x22]|$)';
const NO_HOST = '(?=/(?![\\t]*[/\\\\])|[?#>\\x22]|$)';
/** A path without a host. */
const PATH = '(?=/(?![/\\\\]))';
/** What comes before a link's target, or before the URL of its `anchor`. */
const LINK = '(<|;[ \\t]*(?i:anchor)[ \\t]*=[ \\t]*\\x22)';

/** One replacement, as in `s/from/to/`. They run one after the other. */
type Step = readonly [from: string, to: string];

/**
 * Rules that map `Location`, and the targets of `Link`, from the upstream's own origin to this proxy, as
 * forward/headers/location.ts does. Answers from bearerd are mapped already.
 */
export function locationRules(route: Route): readonly string[] {
  const steps = stepsOf(route);
  return [
    '# Maps redirects and links to the upstream to this proxy. bearerd (server 2) has mapped its own.',
    ...steps.map(
      ([from, to]) =>
        `http-response replace-header location ${word(`^${from}(.*)$`)} ${word(`${to}\\1`)} if { srv_id 1 }`,
    ),
    ...steps.map(([from, to], i) => {
      const found = i === 0 ? 'res.fhdr(link)' : 'var(res.link)';
      // Escaped twice: once for the arguments, and once for the line.
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
  // The usual case: the path that a client asks for is the path that is sent.
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
  /** Undefined if the reference stays absolute. */
  readonly to: string | undefined;
}

/**
 * In this order: the route's own prefix; other routes of the host, the longest upstream prefix first; routes of other
 * hosts, which stay absolute; the base path. Targets are left out that the base path would map in the same way, and
 * targets that an earlier one covers.
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

/** The origin in all usual spellings. The scheme may be missing. */
function originPattern(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  const usual = protocol === 'https:' ? '443' : '80';
  const ports = port === '' ? `(?::0*${usual}|:)?` : `:0*${port}`;
  return `(?i:(?:${protocol})?//${literally(hostname)})${ports}`;
}
