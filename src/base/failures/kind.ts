import { ConnectTimeoutError, OutboundProxyError } from '../errors.ts';
import type { ConnectionFailure } from './words.ts';

/** By the code of the system or of a library, never by a message. */
const BY_CODE: Readonly<Record<string, ConnectionFailure>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns-unavailable',
  EAI_FAIL: 'dns-unavailable',
  ENODATA: 'dns',
  ERR_NOT_LOOPBACK: 'dns-elsewhere',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'unroutable',
  ENETUNREACH: 'unroutable',
  EADDRNOTAVAIL: 'unroutable',
  ETIMEDOUT: 'connect-timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  UND_ERR_HEADERS_TIMEOUT: 'answer-timeout',
  UND_ERR_BODY_TIMEOUT: 'answer-stalled',
  ERR_OUTBOUND_PROXY: 'outbound-proxy',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls-self-signed',
  CERT_HAS_EXPIRED: 'tls-expired',
  CERT_NOT_YET_VALID: 'tls-not-yet-valid',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls-wrong-name',
  HOSTNAME_MISMATCH: 'tls-wrong-name',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls-unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT: 'tls-unknown-issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls-unknown-issuer',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls-unknown-issuer',
  CERT_UNTRUSTED: 'tls-unknown-issuer',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'tls-client-certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'tls-client-certificate',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'tls-client-certificate',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'tls-version',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'tls-version',
  ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC: 'tls-damaged',
  ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC: 'tls-damaged',
  ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR: 'tls-damaged',
  ERR_SSL_WRONG_VERSION_NUMBER: 'https-on-plain-port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'https-on-plain-port',
  ERR_SSL_RECORD_LAYER_FAILURE: 'https-on-plain-port',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
  UND_ERR_SOCKET: 'closed',
  UND_ERR_HEADERS_OVERFLOW: 'head-too-large',
  HTTPParserError: 'not-http', // An error of undici whose parser gave no code.
  HPE_INVALID_EOF_STATE: 'closed',
  HPE_HEADER_OVERFLOW: 'head-too-large',
  EMFILE: 'no-sockets',
  ENFILE: 'no-sockets',
  ENOBUFS: 'no-sockets',
  ENOMEM: 'no-sockets',
};

/** Codes of which many mean the same. The first pattern that matches decides. */
const BY_PATTERN: readonly (readonly [RegExp, ConnectionFailure])[] = [
  [/^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT|CRL_)/, 'tls-certificate'],
  [/^(?:ERR_SSL_|ERR_TLS_|EPROTO)/, 'tls-protocol'],
  [/^HPE_/, 'not-http'],
];

/** Why there was no answer. */
export function connectionFailureOf(error: unknown): ConnectionFailure {
  // Whatever the code: the operator has to look at the proxy.
  if (error instanceof OutboundProxyError) return 'outbound-proxy';
  if (error instanceof ConnectTimeoutError) return `${error.step}-timeout`;
  return failureOfCode(codeOf(error));
}

/** The failure that a code stands for, whether an outbound proxy is used or not. */
export function failureOfCode(code: string): ConnectionFailure {
  return BY_CODE[code] ?? BY_PATTERN.find(([pattern]) => pattern.test(code))?.[1] ?? 'other';
}

/** The error's code, for the operator. The message of a library is not used: it may hold an address or a secret. */
export function codeOf(error: unknown): string {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown error';
}
