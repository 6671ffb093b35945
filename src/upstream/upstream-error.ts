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
};

const TIMEOUTS: Record<string, string> = {
  ETIMEDOUT: 'connection_timeout',
};

/** We have no more sockets to give. It passes as soon as others close. */
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

/** The answer for a request that got none from the upstream. Judges by `code`, never by a message. */
export function upstreamProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const { code } = error as { code?: unknown };
  const known = typeof code === 'string' ? code : '';
  if (EXHAUSTED.has(known)) return new Problem('overloaded', { retryAfterS: 1, cause: error });
  const timeout = TIMEOUTS[known];
  if (timeout !== undefined) return new Problem('upstream-timeout', { proxyStatus: timeout, cause: error });
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
