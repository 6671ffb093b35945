import * as field from '../../base/fields.ts';

/** The `contentLength` of a body in chunks. */
export const CHUNKED = -1;

/** What bearerd reads from a request's header lines: one pass, without an object of all headers. */
export interface RequestHead {
  /** Size of the lines on the wire, each with `: ` and CRLF; without the request line. */
  readonly bytes: number;
  /** The first `Host`; undefined if there is none. */
  readonly host: string | undefined;
  readonly hostLines: number;
  /** The first `Origin`. */
  readonly origin: string | undefined;
  readonly originLines: number;
  readonly fetchSite: string | undefined;
  /** The request has `Origin` or `Sec-Fetch-Site`: a browser sends one of them with each cross-origin or scripted request. */
  readonly fromBrowser: boolean;
  /** `Access-Control-Request-Method`, of a preflight. */
  readonly preflightMethod: string | undefined;
  readonly preflightHeaders: string | undefined;
  /** `Access-Control-Request-Private-Network: true`: a public page wants to call a private address. */
  readonly preflightPrivateNetwork: boolean;
  readonly callerKey: string | undefined;
  readonly proxyAuthorization: string | undefined;
  /** The request has a body by its framing (RFC 9112 §6.3), whatever its method. */
  readonly hasBody: boolean;
  /** `Content-Length` as it was sent. */
  readonly contentLengthText: string | undefined;
  readonly contentLengthLines: number;
  /** In bytes, or `CHUNKED`. */
  readonly contentLength: number;
  /** All `Transfer-Encoding` values in lower case, joined (several lines are one list); empty if there is none. */
  readonly transferEncoding: string;
  readonly expectation: 'none' | 'continue' | 'unknown';
  /** All `Via` values, joined; empty if there is none. */
  readonly via: string;
  readonly upgrade: string | undefined;
  readonly lines: field.FieldLines;
}

/** A head while it is read. */
type Draft = { -readonly [Key in keyof RequestHead]: RequestHead[Key] };

/** `: ` and CRLF. */
const LINE_OVERHEAD_BYTES = 4;

/** @param pairs `request.rawHeaders`: names and values in turn */
export function readRequestHead(pairs: readonly string[]): RequestHead {
  const fields: number[] = [];
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
    contentLengthText: undefined,
    contentLengthLines: 0,
    contentLength: 0,
    transferEncoding: '',
    expectation: 'none',
    via: '',
    upgrade: undefined,
    lines: { pairs, fields },
  };
  for (let i = 0; i < pairs.length; i += 2) {
    const value = pairs[i + 1]!;
    const name = field.fieldOf(pairs[i]!);
    fields.push(name);
    head.bytes += pairs[i]!.length + value.length + LINE_OVERHEAD_BYTES;
    if (name !== field.OTHER) read(head, name, value);
  }
  head.fromBrowser = head.originLines > 0 || head.fetchSite !== undefined;
  return head;
}

function read(head: Draft, name: number, value: string): void {
  switch (name) {
    case field.HOST:
      head.host ??= value;
      head.hostLines++;
      break;
    case field.ORIGIN:
      head.origin ??= value;
      head.originLines++;
      break;
    case field.SEC_FETCH_SITE:
      // `cross-site` wins over any other value: it is the least trusted.
      if (head.fetchSite !== 'cross-site') head.fetchSite = value.toLowerCase();
      break;
    case field.PREFLIGHT_METHOD:
      head.preflightMethod ??= value;
      break;
    case field.PREFLIGHT_HEADERS:
      head.preflightHeaders = joined(head.preflightHeaders, value);
      break;
    case field.PREFLIGHT_PRIVATE_NETWORK:
      head.preflightPrivateNetwork = value === 'true';
      break;
    case field.CALLER_KEY:
      head.callerKey ??= value;
      break;
    case field.PROXY_AUTHORIZATION:
      head.proxyAuthorization ??= value;
      break;
    case field.CONTENT_LENGTH:
      head.contentLengthText = value;
      head.contentLengthLines++;
      if (head.contentLength !== CHUNKED) head.contentLength = Number(value);
      if (head.contentLength > 0) head.hasBody = true;
      break;
    case field.TRANSFER_ENCODING:
      head.transferEncoding =
        head.transferEncoding === ''
          ? value.toLowerCase()
          : `${head.transferEncoding}, ${value.toLowerCase()}`;
      head.contentLength = CHUNKED;
      head.hasBody = true;
      break;
    case field.EXPECT:
      for (const expectation of elements(value)) {
        const known = expectation.toLowerCase() === '100-continue' && head.expectation !== 'unknown';
        head.expectation = known ? 'continue' : 'unknown';
      }
      break;
    case field.VIA:
      head.via = head.via === '' ? value : `${head.via}, ${value}`;
      break;
    case field.UPGRADE:
      head.upgrade = joined(head.upgrade, value);
      break;
    default:
  }
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

/** The elements of a list, without the empty ones (RFC 9110 §5.6.1). */
export function elements(list: string): string[] {
  return list.split(/[ \t]*,[ \t]*/).filter((element) => element !== '');
}
