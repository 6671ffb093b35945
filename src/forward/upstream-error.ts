import { Problem } from '../errors.ts';

/** RFC 9209 §2.3 types for the codes that the system and the libraries give. */
const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: 'connection_refused',
  ENOTFOUND: 'dns_error',
  EAI_AGAIN: 'dns_error',
  EAI_FAIL: 'dns_error',
  EHOSTUNREACH: 'destination_ip_unroutable',
  ENETUNREACH: 'destination_ip_unroutable',
  EADDRNOTAVAIL: 'destination_ip_unroutable',
  ECONNRESET: 'connection_terminated',
  EPIPE: 'connection_terminated',
  ERR_OUTBOUND_PROXY: 'destination_unavailable',
  UND_ERR_SOCKET: 'connection_terminated',
};

const TIMEOUTS: Record<string, string> = {
  ETIMEDOUT: 'connection_timeout',
  UND_ERR_HEADERS_TIMEOUT: 'http_response_timeout',
};

const INVALID: Record<string, string> = {
  UND_ERR_HEADERS_OVERFLOW: 'http_response_header_section_size',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'http_response_incomplete',
  HPE_HEADER_OVERFLOW: 'http_response_header_section_size',
};

/** We have no more sockets to give. It passes as soon as others close. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

/** What the code alone can't tell: whether it was the peer that ended the connection. */
export interface ConnectionEnd {
  readonly peerGone: boolean;
  readonly responseBegun: boolean;
}

/**
 * The answer for a request that got none from the upstream. Judges by `code` and `name`, never by a message.
 */
export function upstreamProblem(error: unknown, end: ConnectionEnd): Problem {
  if (error instanceof Problem) return error;
  const { code, name } = error as { code?: unknown; name?: unknown };
  const known = typeof code === 'string' ? code : '';
  if (EXHAUSTED.has(known)) return new Problem('overloaded', { retryAfterS: 1, cause: error });
  if (known in TIMEOUTS)
    return new Problem('upstream-timeout', { proxyStatus: TIMEOUTS[known], cause: error });
  if (known in INVALID) return new Problem('upstream-invalid', { proxyStatus: INVALID[known], cause: error });
  // A parser's error has its parser's code; an answer that we gave up while the peer still talked was no HTTP.
  if (name === 'HTTPParserError' || known.startsWith('HPE_') || name === 'AssertionError') {
    return new Problem(end.peerGone ? 'upstream-unreachable' : 'upstream-invalid', {
      proxyStatus: end.peerGone ? 'http_response_incomplete' : undefined,
      cause: error,
    });
  }
  if (known === 'UND_ERR_SOCKET' && end.responseBegun && !end.peerGone) {
    return new Problem('upstream-invalid', { cause: error });
  }
  return new Problem('upstream-unreachable', {
    proxyStatus: UNREACHABLE[known] ?? tlsError(known),
    cause: error,
  });
}

function tlsError(code: string): string | undefined {
  if (/^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT|HOSTNAME_MISMATCH|CRL_)/.test(code)) {
    return 'tls_certificate_error';
  }
  return /^(?:ERR_SSL_|ERR_TLS_|EPROTO)/.test(code) ? 'tls_protocol_error' : undefined;
}
