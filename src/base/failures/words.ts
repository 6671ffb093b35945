import type { LoginFailure } from '../login-error.ts';
import type { ProblemCode } from '../problem.ts';

/** The words for one way in which a request to a server fails. Log, commands, page and problems use the same. */
export interface FailureWords {
  /** What happened: a part of a sentence whose subject is the server. Constant, because a client may see it. */
  readonly what: string;
  /** What the operator of bearerd can do. */
  readonly remedy: string;
  /** The class of a login that fails like this. */
  readonly login: LoginFailure;
  /** The problem of a request that fails like this. */
  readonly problem: ProblemCode;
  /** The `error` parameter of `Proxy-Status` (RFC 9209 §2.3). */
  readonly proxyStatus: string;
}

const UNREACHABLE = { login: 'unreachable', problem: 'upstream-unreachable' } as const;
const LATE = { login: 'unreachable', problem: 'upstream-timeout' } as const;
const NOT_HTTP = { login: 'unreachable', problem: 'upstream-invalid' } as const;
const CERTIFICATE = { ...UNREACHABLE, proxyStatus: 'tls_certificate_error' } as const;
const TLS = { ...UNREACHABLE, proxyStatus: 'tls_protocol_error' } as const;

/** Why there was no answer. docs/answers.md shows this table. */
export const CONNECTION_FAILURES = {
  dns: {
    ...UNREACHABLE,
    proxyStatus: 'dns_error',
    what: "can't be reached: its host name can't be resolved",
    remedy:
      "Check how the host is spelt in the URL (or in BEARERD_UPSTREAM_ADDRESS), and this machine's DNS. Where only an outbound proxy resolves outside names, set HTTPS_PROXY, or HTTP_PROXY for an http:// URL.",
  },
  'dns-unavailable': {
    ...UNREACHABLE,
    proxyStatus: 'dns_error',
    what: "can't be reached: no DNS server answers for its host name",
    remedy: "Check this machine's DNS and its network.",
  },
  'dns-timeout': {
    ...LATE,
    proxyStatus: 'dns_timeout',
    what: "can't be reached: its host name was not resolved in time",
    remedy: "Check this machine's DNS and its network.",
  },
  'dns-elsewhere': {
    ...UNREACHABLE,
    proxyStatus: 'destination_ip_prohibited',
    what: "can't be reached: its host name means this machine, but leads to another one",
    remedy:
      "Lead the name to 127.0.0.1 or ::1 (in the hosts file, or in this machine's DNS). If another machine is meant, write https://, or set BEARERD_ALLOW_INSECURE_UPSTREAM=true to send credentials in clear text.",
  },
  refused: {
    ...UNREACHABLE,
    proxyStatus: 'connection_refused',
    what: "can't be reached: nothing listens at its address and port",
    remedy:
      'Check the host and the port in the URL (or in BEARERD_UPSTREAM_ADDRESS), and that the server runs.',
  },
  unroutable: {
    ...UNREACHABLE,
    proxyStatus: 'destination_ip_unroutable',
    what: "can't be reached: no network leads to its address",
    remedy: "Check this machine's network, its VPN and its firewall.",
  },
  'connect-timeout': {
    ...LATE,
    proxyStatus: 'connection_timeout',
    what: "can't be reached: no connection was made in time",
    remedy:
      'A firewall may drop the packets, or an outbound proxy may be needed: check the URL, the network and HTTPS_PROXY.',
  },
  'tls-timeout': {
    ...LATE,
    proxyStatus: 'connection_timeout',
    what: "can't be reached: its TLS handshake did not end in time",
    remedy: 'That server accepts connections: check that the port speaks TLS, and look at its load.',
  },
  'outbound-proxy': {
    ...UNREACHABLE,
    proxyStatus: 'destination_unavailable',
    what: "can't be reached: the outbound proxy does not connect to it",
    remedy: 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and that the proxy runs and allows this host.',
  },
  'tls-self-signed': {
    ...CERTIFICATE,
    what: "can't be trusted: its certificate is self-signed",
    remedy: 'If it is the right server, name its certificate in BEARERD_TLS_CA_FILE.',
  },
  'tls-expired': {
    ...CERTIFICATE,
    what: "can't be trusted: its certificate has expired",
    remedy: "The server's operators must renew it; check this machine's clock, too.",
  },
  'tls-not-yet-valid': {
    ...CERTIFICATE,
    what: "can't be trusted: its certificate is not valid yet",
    remedy: "Check this machine's clock.",
  },
  'tls-wrong-name': {
    ...CERTIFICATE,
    what: "can't be trusted: its certificate is for another host name",
    remedy:
      'Either the URL names the wrong host, or the server shows the wrong certificate. If the host is right, tell those who run the server.',
  },
  'tls-unknown-issuer': {
    ...CERTIFICATE,
    what: "can't be trusted: an authority that this machine doesn't know issued its certificate",
    remedy:
      "Name the authority's certificate in BEARERD_TLS_CA_FILE. A company's proxy that reads TLS has an authority of its own.",
  },
  'tls-certificate': {
    ...CERTIFICATE,
    what: "can't be trusted: its certificate is not acceptable",
    remedy: "The server's operators must put a valid certificate in place.",
  },
  'tls-client-certificate': {
    ...TLS,
    what: "can't be reached: it asks for a client certificate, or refuses the one that it got",
    remedy: 'Set BEARERD_TLS_CERT_FILE and BEARERD_TLS_KEY_FILE.',
  },
  'https-on-plain-port': {
    ...TLS,
    what: "can't be reached: the port does not speak TLS",
    remedy: 'The URL says https://: name the port that speaks TLS, or write http:// where that is allowed.',
  },
  'tls-protocol': {
    ...TLS,
    what: "can't be reached: no TLS connection could be negotiated",
    remedy: 'Look at the TLS settings of the server; it may want a client certificate.',
  },
  'tls-version': {
    ...TLS,
    what: "can't be reached: it speaks only versions of TLS that are no longer safe",
    remedy: 'Have the server offer TLS 1.2 or later.',
  },
  'tls-damaged': {
    ...TLS,
    what: 'lost its connection, because TLS found that bytes had changed on the way',
    remedy: 'Look at what is between here and the server: proxies, VPN, network hardware.',
  },
  'http-on-tls-port': {
    ...UNREACHABLE,
    proxyStatus: 'connection_terminated',
    what: 'closed the connection without an answer, as a port that speaks TLS does',
    remedy: "Where the port speaks TLS, write https:// in the URL; else look at the server's log.",
  },
  closed: {
    ...UNREACHABLE,
    proxyStatus: 'connection_terminated',
    what: 'closed the connection before its answer was complete',
    remedy:
      'Look at the log of that server for this moment. It may have restarted, crashed on or refused this request; or a firewall cut the connection.',
  },
  'closed-connecting': {
    ...UNREACHABLE,
    proxyStatus: 'connection_terminated',
    what: 'closed the connection while it was being made',
    remedy:
      'Nothing was sent. Check the port: if it speaks TLS, the URL must begin with https://. Then look at the log of that server.',
  },
  'not-http': {
    ...NOT_HTTP,
    proxyStatus: 'http_protocol_error',
    what: 'sent something that is not valid HTTP',
    remedy:
      'Check the scheme and the port in the URL. If they are right, the server breaks HTTP: tell those who run it.',
  },
  'head-too-large': {
    ...NOT_HTTP,
    proxyStatus: 'http_response_header_section_size',
    what: 'sent an answer whose headers are too large',
    remedy:
      'Raise BEARERD_MAX_HEADER_SIZE (32 KiB unless it is set), or have the server send smaller headers.',
  },
  'answer-timeout': {
    ...LATE,
    proxyStatus: 'http_response_timeout',
    what: 'gives no complete answer in time',
    remedy: 'That server accepts connections: look at its load and its log.',
  },
  'answer-stalled': {
    ...LATE,
    proxyStatus: 'http_response_timeout',
    what: 'sent nothing for too long in the middle of its answer',
    remedy: 'Look at the load and the log of that server, or raise the limit if such pauses are usual.',
  },
  'connection-lost': {
    ...LATE,
    proxyStatus: 'connection_read_timeout',
    what: 'stopped answering on an open connection',
    remedy:
      "Check this machine's network: a firewall or a VPN may have dropped the connection. If it is in order, the server hangs: look at its load and its log.",
  },
  'no-sockets': {
    login: 'unreachable',
    problem: 'overloaded',
    proxyStatus: 'connection_limit_reached',
    what: "can't be reached: this machine has no more sockets for bearerd",
    remedy: 'Raise the limit of open files (ulimit -n), or lower BEARERD_MAX_CONNECTIONS.',
  },
  other: {
    ...UNREACHABLE,
    proxyStatus: 'destination_unavailable',
    what: "can't be reached: the connection failed",
    remedy: 'The code in brackets comes from the system and says more.',
  },
} as const satisfies Readonly<Record<string, FailureWords>>;

export type ConnectionFailure = keyof typeof CONNECTION_FAILURES;
