import { clientLocation } from '../../forward/headers/location.ts';
import { isUnder } from '../../routes/prefixes.ts';
import { type Route, withoutSlash } from '../../routes/route-table.ts';
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

/** A segment that is in no route, as a reference can't hold it. */
const ANY = '/<any>';

/**
 * The deepest first. All paths under the same of these are mapped alike: they begin with the path that a route of the server
 * sends, or with one that would be mapped into another route's prefix. Those are left out that the next shorter one maps, too.
 */
function targetsOf(route: Route): readonly Target[] {
  const known: Route = { ...route }; // A copy has the lists that a route computes anew at each look.
  const { basePath, upstreamOrigin, siblings, strangers, neighbours } = known;
  const begins = new Set([basePath, ...strangers.map(({ upstreamPrefix }) => upstreamPrefix)]);
  for (const { prefix, upstreamPrefix } of [known, ...siblings, { prefix: '/', upstreamPrefix: basePath }]) {
    begins.add(upstreamPrefix);
    for (const other of neighbours) {
      if (isUnder(other.prefix, prefix))
        begins.add(upstreamPrefix + withoutSlash(other.prefix).slice(withoutSlash(prefix).length));
    }
  }
  const all = [...begins]
    .sort((a, b) => b.length - a.length)
    .map((from): Target => {
      const mapped = clientLocation(upstreamOrigin + from + ANY, known);
      return { from, to: mapped.startsWith('/') ? mapped.slice(0, -ANY.length) : undefined };
    });
  return all.filter(({ from, to }, i) => {
    const shorter = all.slice(i + 1).find((other) => isUnder(from, other.from));
    if (shorter === undefined) return true;
    return to !== (shorter.to === undefined ? undefined : shorter.to + from.slice(shorter.from.length));
  });
}

/** The origin in all usual spellings. The scheme may be missing. */
function originPattern(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  const usual = protocol === 'https:' ? '443' : '80';
  const ports = port === '' ? `(?::0*${usual}|:)?` : `:0*${port}`;
  return `(?i:(?:${protocol})?//${literally(hostname)})${ports}`;
}
