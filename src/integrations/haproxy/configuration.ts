import { ConfigError } from '../../base/config-error.ts';
import { VERSION } from '../../base/version.ts';
import type { Config } from '../../config/config.ts';
import { retriesPath } from '../../config/sections/sink-config.ts';
import type { ListenAddress } from '../../config/values/addresses.ts';
import { createLanes } from '../../routes/lanes.ts';
import type { RoutesByHost } from '../../routes/routes-by-host.ts';
import { laneSections } from './backends.ts';
import { fastRoutes } from './fast-route.ts';
import { frontend } from './frontend.ts';
import { problemReply } from './problem-reply.ts';
import { refusals, slowLane } from './refusals.ts';
import { type Section, sectionText, time } from './words.ts';

/** Room that HAProxy reserves for headers that it adds, whatever the size of the head. */
const MAX_REWRITE_BYTES = 2_048;
/** Most header lines. Each costs 8 bytes of the buffer, and HAProxy copies the whole buffer for each request. */
const MOST_LINES = 256;
/** The same times as in bearerd, for an idle client and for a head. */
const KEEP_ALIVE = '72s';
const HEADERS_TIMEOUT = '60s';

/**
 * A complete configuration of HAProxy, in front of a bearerd that runs with `config`.
 *
 * @throws ConfigError naming every setting that HAProxy can't keep
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
    `HAProxy 2.6 or later, in front of bearerd; written by "bearerd render haproxy" ${VERSION}. Write it again when bearerd's`,
    'configuration changes. HAProxy and bearerd run as the same user. The map file must exist; it may be empty.',
    '',
    'A plain request goes straight to its upstream, with the credential that bearerd keeps in the map. All other requests go to',
    'bearerd. A request that fails on the fast lane (a 401, no connection) is sent again through bearerd, whose answer counts.',
    '',
    'Differences from bearerd alone:',
    '- `Via` names no process, and is not added to answers. Header names are in lower case.',
    '- The log, the metrics and the page of bearerd do not show requests on the fast lane.',
    "- A request that HAProxy's parser refuses gets HAProxy's own 400 or 422. Connections beyond the limit wait.",
    '- Equal duplicates of `Host` or `Content-Length` are merged; a length beside chunks is dropped.',
    '- Folded lines, lines that end with LF alone, and tabs in a request line are repaired, not refused.',
    "- 1xx answers pass, and so do headers that an answer's `Connection` names. A `Link` on several lines is not mapped.",
    '- A `Location` or `Link` with `..` in its path is mapped as it is written, not as clients resolve it.',
    '- A 426 keeps `Upgrade` only if all its protocols can be tunnelled; HAProxy may add `Sec-WebSocket-Accept`.',
    "- If the upstream resets an idle connection just as HAProxy uses it, the client's connection closes without an answer.",
    '- A 502 after a POST or PATCH always says `upstream-unreachable`; the `detail` of a 502 or 504 may be less exact.',
    '- A request that got a 401 may be sent a third time: bearerd tries its present token once before it gets another.',
    ...(slow.length === 0 ? [] : ['', 'Without a fast lane:', ...slow.map((reason) => `- ${reason}`)]),
  ];
  return lines
    .map((line) => `# ${line}`.trimEnd())
    .join('\n')
    .concat('\n');
}

function globalLines({ limits }: Config, path: string): readonly string[] {
  return [
    '# A process that can open this socket can read the credentials.',
    `stats socket ${path} mode 600 level admin`,
    '# Room for the largest head that bearerd accepts, and for added headers. HAProxy copies all of it for each request.',
    `tune.bufsize ${limits.headerSizeBytes + MAX_REWRITE_BYTES + 8 * MOST_LINES}`,
    `tune.maxrewrite ${MAX_REWRITE_BYTES}`,
    `tune.http.maxhdr ${MOST_LINES}`,
  ];
}

/** With these times, a name that only the hosts file knows keeps the address that it had at the start. */
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

/** Longer than all of bearerd's own limits, so that HAProxy does not give up a client before; 0 for no limit. */
function longestMs({ routes, tokenWaitMs }: Config): number {
  const limits = routes.flatMap(({ timeouts: { responseMs, idleMs } }) => [responseMs, idleMs]);
  return limits.includes(0) ? 0 : Math.max(...limits) + 2 * tokenWaitMs;
}

const LANES: readonly string[] = [
  '# A failed request is sent again once, to the second server: bearerd. No other request goes there.',
  'balance first',
  'retries 1',
  'option redispatch 1',
  `http-error ${problemReply('upstream-unreachable')}`,
  `http-error ${problemReply('upstream-timeout')}`,
];

/** Without limits: bearerd has its own. */
const BEARERD = ['timeout server 24d', 'timeout tunnel 24d'];
