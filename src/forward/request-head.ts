/** What a request's header lines say to us, found in one pass and without building an object of all of them. */
export interface RequestHead {
  /** What the lines take on the wire, each with `: ` and its end; the request line is not among them. */
  readonly bytes: number;
  /** First `Host` value; undefined where there is none. */
  readonly host: string | undefined;
  readonly hostLines: number;
  /** First `Origin` value. */
  readonly origin: string | undefined;
  readonly originLines: number;
  readonly fetchSite: string | undefined;
  /** A browser sends one of the two with each cross-origin or scripted request. */
  readonly fromBrowser: boolean;
  /** `Access-Control-Request-Method` of a preflight. */
  readonly preflightMethod: string | undefined;
  readonly preflightHeaders: string | undefined;
  /** `Access-Control-Request-Private-Network: true`: a public page asks for a private address. */
  readonly preflightPrivateNetwork: boolean;
  readonly callerKey: string | undefined;
  readonly proxyAuthorization: string | undefined;
  /** The request has a body by its framing (RFC 9112 §6.3), whatever its method. */
  readonly hasBody: boolean;
  /** -1 for chunked. */
  readonly contentLength: number;
  /** All `Transfer-Encoding` values in lower case, joined (several lines are one list); empty where there is none. */
  readonly transferEncoding: string;
  readonly expectation: 'none' | 'continue' | 'unknown';
  /** All `Via` values, joined; empty where there is none. */
  readonly via: string;
  readonly upgrade: string | undefined;
}

/** The same, to be filled. */
type Draft = { -readonly [Key in keyof RequestHead]: RequestHead[Key] };

/** `: ` and CRLF. */
const LINE_OVERHEAD_BYTES = 4;

/** @param raw `request.rawHeaders`: names and values in turn. */
export function readRequestHead(raw: readonly string[]): RequestHead {
  const head: Draft = {
    bytes: 0,
    host: undefined,
    hostLines: 0,
    origin: undefined,
    originLines: 0,
    fetchSite: undefined,
    fromBrowser: false,
    preflightMethod: undefined,
    preflightHeaders: undefined,
    preflightPrivateNetwork: false,
    callerKey: undefined,
    proxyAuthorization: undefined,
    hasBody: false,
    contentLength: 0,
    transferEncoding: '',
    expectation: 'none',
    via: '',
    upgrade: undefined,
  };
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    const value = raw[i + 1]!;
    head.bytes += name.length + value.length + LINE_OVERHEAD_BYTES;
    const read = READERS.get(name) ?? READERS.get(name.toLowerCase());
    if (read !== undefined) read(head, value);
  }
  head.fromBrowser = head.originLines > 0 || head.fetchSite !== undefined;
  return head;
}

const READERS = new Map<string, (head: Draft, value: string) => void>([
  [
    'host',
    (head, value) => {
      head.host ??= value;
      head.hostLines++;
    },
  ],
  [
    'origin',
    (head, value) => {
      head.origin ??= value;
      head.originLines++;
    },
  ],
  [
    'sec-fetch-site',
    (head, value) => {
      // Of several, the one that gives least trust.
      if (head.fetchSite !== 'cross-site') head.fetchSite = value.toLowerCase();
    },
  ],
  [
    'access-control-request-method',
    (head, value) => {
      head.preflightMethod ??= value;
    },
  ],
  [
    'access-control-request-headers',
    (head, value) => {
      head.preflightHeaders =
        head.preflightHeaders === undefined ? value : `${head.preflightHeaders}, ${value}`;
    },
  ],
  [
    'access-control-request-private-network',
    (head, value) => {
      head.preflightPrivateNetwork = value === 'true';
    },
  ],
  [
    'x-bearerd-key',
    (head, value) => {
      head.callerKey ??= value;
    },
  ],
  [
    'proxy-authorization',
    (head, value) => {
      head.proxyAuthorization ??= value;
    },
  ],
  [
    'content-length',
    (head, value) => {
      const length = Number(value);
      head.contentLength = length;
      if (length > 0) head.hasBody = true;
    },
  ],
  [
    'transfer-encoding',
    (head, value) => {
      const lower = value.toLowerCase();
      head.transferEncoding = head.contentLength === -1 ? `${head.transferEncoding}, ${lower}` : lower;
      head.contentLength = -1;
      head.hasBody = true;
    },
  ],
  [
    'expect',
    (head, value) => {
      const known = value.toLowerCase() === '100-continue' && head.expectation !== 'unknown';
      head.expectation = known ? 'continue' : 'unknown';
    },
  ],
  [
    'via',
    (head, value) => {
      head.via = head.via === '' ? value : `${head.via}, ${value}`;
    },
  ],
  [
    'upgrade',
    (head, value) => {
      head.upgrade = head.upgrade === undefined ? value : `${head.upgrade}, ${value}`;
    },
  ],
]);
