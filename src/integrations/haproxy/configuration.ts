import { ConfigError } from '../../base/config-error.ts';
import { VERSION } from '../../base/version.ts';
import type { Config, ListenAddress } from '../../config/config.ts';
import { retriesPath } from '../../config/values/sink-names.ts';
import { createLanes } from '../../routes/lanes.ts';
import type { RoutesByHost } from '../../routes/routes-by-host.ts';
import { laneSections } from './backends.ts';
import { fastRoutes } from './fast-route.ts';
import { frontend } from './frontend.ts';
import { problemReply } from './problem-reply.ts';
import { refusals, slowLane } from './refusals.ts';
import { type Section, sectionText, time } from './words.ts';

/** Room that HAProxy keeps for what it adds to a head, however large that is. */
const MAX_REWRITE_BYTES = 2_048;
/** Lines of a head that it takes: each costs 8 bytes of the buffer. The whole buffer is copied for each request. */
const MOST_LINES = 256;
/** As long as bearerd keeps an idle client, and waits for headers. */
const KEEP_ALIVE = '72s';
const HEADERS_TIMEOUT = '60s';

/**
 * A whole configuration of HAProxy, in front of a bearerd that runs with this one.
 *
 * @throws ConfigError naming all that HAProxy can't do with the same meaning
 */
export function haproxyConfiguration(
  config: Config,
  routes: RoutesByHost,
  listen: readonly ListenAddress[],
): string {
  const lanes = createLanes(routes);
  const { fast, slow } = fastRoutes(routes, lanes, config);
  const faults = refusals(config, listen, { fast, slow });
  const sink = config.sinks.find(({ kind }) => kind === 'haproxy');
  const bearerd = slowLane(config);
  if (faults.length > 0 || sink?.kind !== 'haproxy' || bearerd === undefined) throw new ConfigError(faults);
  const withNames = fast.some(({ server }) => server.isName);
  const sections: readonly Section[] = [
    ['global', globalLines(config, sink.path)],
    ...(withNames ? [RESOLVERS] : []),
    ['defaults base', defaultLines(config)],
    ['frontend clients from base', frontend({ config, listen, tables: lanes.tables, fast, map: sink.map })],
    ['defaults lanes from base', LANES],
    ...fast.flatMap((each) => laneSections(each, config, retriesPath(sink))),
    ['backend bearerd from base', [...BEARERD, `server bearerd ${bearerd}`]],
  ];
  const reasons = [...slow].map(([{ name }, why]) => `${name}: ${why}`);
  return [preamble(reasons), ...sections.map(sectionText)].join('\n');
}

function preamble(slow: readonly string[]): string {
  const lines = [
    `HAProxy 2.6 or later, in front of bearerd: written by "bearerd render haproxy" ${VERSION}. Write it anew when bearerd's`,
    'configuration has changed. HAProxy and bearerd run as the same user; the map has to be there, as an empty file.',
    '',
    'A plain request goes straight to its upstream, with the credential that bearerd keeps in the map. All else goes to',
    'bearerd. What fails on the fast lane (a 401, no connection) is sent again through bearerd, whose answer counts.',
    '',
    'This differs from bearerd alone:',
    '- `Via` names no process, and is not added to answers. Names of headers are in lower case.',
    '- The log, the metrics and the page of bearerd know nothing of the fast lane.',
    "- What HAProxy's parser refuses gets HAProxy's own 400 or 422, and too many connections wait.",
    '- Equal duplicates of `Host` or `Content-Length` are merged; a length beside chunks is dropped.',
    '- Lines that are folded or end with LF alone, and tabs in a request line, are put in order and not refused.',
    '- 1xx answers pass; so do headers that an answer names in its `Connection`; of a `Link` in several lines none is mapped.',
    "- A client's connection ends without an answer where the upstream resets an idle one just as it is used.",
    '- A 502 after a POST or PATCH always says `upstream-unreachable`; the `detail` of a 502 or 504 may be less precise.',
    '- A request that got a 401 may be sent a third time: bearerd tries the token once itself before it gets another one.',
    ...(slow.length === 0 ? [] : ['', 'Without a fast lane:', ...slow.map((reason) => `- ${reason}`)]),
  ];
  return lines
    .map((line) => `# ${line}`.trimEnd())
    .join('\n')
    .concat('\n');
}

function globalLines({ limits }: Config, path: string): readonly string[] {
  return [
    '# Who may talk to it can read the credentials.',
    `stats socket ${path} mode 600 level admin`,
    '# A head as large as bearerd takes, and what is added to it. All of it is copied for each request: less is faster.',
    `tune.bufsize ${limits.headerSizeBytes + MAX_REWRITE_BYTES + 8 * MOST_LINES}`,
    `tune.maxrewrite ${MAX_REWRITE_BYTES}`,
    `tune.http.maxhdr ${MOST_LINES}`,
  ];
}

/** A name that only the system's own file knows stays what it was at the start. */
const RESOLVERS: Section = [
  'resolvers system',
  [
    'parse-resolv-conf',
    'accepted_payload_size 8192',
    'hold nx 24d',
    'hold other 24d',
    'hold refused 24d',
    'hold timeout 24d',
  ],
];

function defaultLines(config: Config): readonly string[] {
  return [
    'mode http',
    'timeout connect 10s',
    `timeout client ${time(longestMs(config))}`,
    `timeout http-request ${HEADERS_TIMEOUT}`,
    `timeout http-keep-alive ${KEEP_ALIVE}`,
    'option abortonclose',
    'option clitcpka',
  ];
}

/** No client is given up before the last of bearerd's own limits; 0 for none. */
function longestMs({ routes, tokenWaitMs }: Config): number {
  const limits = routes.flatMap(({ timeouts: { responseMs, idleMs } }) => [responseMs, idleMs]);
  return limits.includes(0) ? 0 : Math.max(...limits) + 2 * tokenWaitMs;
}

const LANES: readonly string[] = [
  '# What failed is sent again once, by the next server: bearerd. Nothing else goes there.',
  'balance first',
  'retries 1',
  'option redispatch 1',
  `http-error ${problemReply('upstream-unreachable')}`,
  `http-error ${problemReply('upstream-timeout')}`,
];

/** Its own limits end what takes too long. */
const BEARERD = ['timeout server 24d', 'timeout tunnel 24d'];
