/**
 * Errors are told apart by class and code, never by their message. `config-error.ts`, `login-error.ts` and `problem.ts`
 * hold the errors that have rules of their own.
 */

/** The command line can't be understood (exit code 64). */
export class UsageError extends Error {
  readonly code = 'usage';
  override readonly name = 'UsageError';
}

/** A file can't be written, or exists already (exit code 73). */
export class NotWrittenError extends Error {
  readonly code = 'not-written';
  override readonly name = 'NotWrittenError';
}

/** A program called a method of a bearerd that it has closed. */
export class ClosedError extends Error {
  readonly code = 'closed';

  constructor() {
    super('bearerd was closed');
    this.name = 'ClosedError';
  }
}

/** An address can't be listened on (exit code 71). */
export class ListenError extends Error {
  readonly code = 'listen-failed';
  override readonly name = 'ListenError';
}

/** No connection was made within the time limit, `limitMs`. `step` is the one that did not end. */
export class ConnectTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
  readonly step: 'dns' | 'connect' | 'tls';
  readonly limitMs: number;

  constructor(step: 'dns' | 'connect' | 'tls', limitMs: number) {
    super('not connected in time');
    this.name = 'ConnectTimeoutError';
    this.step = step;
    this.limitMs = limitMs;
  }
}

/**
 * The outbound proxy can't be reached, or does not open a tunnel. `message` is for the operator: it names the proxy and
 * says what the proxy did. It holds no secret, and no text of the proxy.
 */
export class OutboundProxyError extends Error {
  /** The code of the cause, if it has one: the same failure without a proxy is judged by it, too. */
  readonly code: string;
  /** The status of the proxy's answer to CONNECT. */
  readonly status: number | undefined;

  /** @param proxy the proxy's host and port */
  constructor(
    proxy: string,
    what: string,
    detail: { status?: number | undefined; code?: string | undefined; cause?: unknown } = {},
  ) {
    super(
      `the outbound proxy ${proxy} ${what}`,
      detail.cause === undefined ? undefined : { cause: detail.cause },
    );
    this.name = 'OutboundProxyError';
    this.code = detail.code ?? 'ERR_OUTBOUND_PROXY';
    this.status = detail.status;
  }
}
