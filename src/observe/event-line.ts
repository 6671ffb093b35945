import { OutboundProxyError } from '../base/errors.ts';
import type { CountedEvent, Event, RequestEvent } from '../base/events.ts';
import { NEW_TOKEN_REMEDY } from '../base/failures/status-words.ts';

/** Severity, fields and message. */
export type Line = ['info' | 'warn' | 'error', object, string];

type Described = Exclude<Event, RequestEvent | CountedEvent>;

/** The log line of each kind of event. None holds a secret, a token or a body. */
const LINES: { readonly [T in Described['type']]: (event: Extract<Described, { type: T }>) => Line } = {
  'login-succeeded': (event) => {
    const { credential, state, fingerprint, warnings, durationMs, lifetimeMs, renewInMs } = event;
    const fields = {
      ...{ credential, state, fingerprint, durationMs: Math.round(durationMs) },
      expiresInSeconds: Math.round(lifetimeMs / 1000),
      renewInSeconds: Math.round(renewInMs / 1000),
      ...(warnings.length === 0 ? {} : { warnings }),
    };
    const what = event.taken
      ? 'took the fresh access token of another instance'
      : 'logged in: a fresh access token';
    return [warnings.length === 0 ? 'info' : 'warn', fields, what];
  },
  'login-failed': (event) => {
    const { credential, state, error, usable, durationMs, nextTryInMs } = event;
    const fields = {
      ...{ credential, state, reason: error.code, status: error.status },
      durationMs: Math.round(durationMs),
      nextTryInSeconds: Math.round(nextTryInMs / 1000),
      tokenUsable: usable,
      cause: causeCode(error.cause),
    };
    return [severityOf(event), fields, `login failed: ${error.message}`];
  },
  'token-expired': (event: TokenLost) => [
    'warn',
    named(event),
    `the access token has expired and there is no newer one${event.nextTryInMs === 0 ? '' : `: ${nextLogin(event)}`}`,
  ],
  'token-rejected': (event: TokenLost) => [
    'warn',
    named(event),
    `the upstream rejected the access token (401): ${event.nextTryInMs === 0 ? 'it is renewed' : nextLogin(event)}`,
  ],
  'new-token-rejected': ({ credential, state, fingerprint }) => [
    'warn',
    { credential, state, fingerprint },
    `the upstream rejected (401) even a new access token. ${NEW_TOKEN_REMEDY}`,
  ],
  'upstream-failed': (event) => [
    'warn',
    { code: event.code, route: event.route, cause: causeWords(event.cause) },
    inWords(event),
  ],
  'doubtful-setting': ({ key, problem }) => ['warn', { key }, `${key} ${problem}`],
  reloaded: ({ by, restartNeededFor }) =>
    restartNeededFor.length === 0
      ? ['info', { by }, 'configuration reloaded']
      : [
          'info',
          { by, restartNeededFor },
          'configuration reloaded; what is listed takes effect after a restart',
        ],
  'reload-refused': ({ by, reason }) => [
    'error',
    { by, reason },
    'the new configuration is faulty: the old one goes on',
  ],
  'secret-trouble': ({ path, reason }) => [
    'warn',
    { path, reason },
    'a secret file is not usable: the last value goes on',
  ],
  'secret-usable': ({ path }) => ['info', { path }, 'the secret file is usable again'],
  'socket-replaced': ({ path }) => [
    'info',
    { path },
    'a socket without a listener was replaced: the process before did not end in order',
  ],
  'stop-announced': ({ signal, delayMs }) => [
    'info',
    { signal, delayMs },
    'not ready any more: requests are still taken for the shutdown delay',
  ],
  'share-state': (event) =>
    event.state === 'ready'
      ? ['info', {}, 'access tokens are shared with other instances']
      : [
          'warn',
          { reason: event.reason },
          `${event.detail}. Until that is mended each instance logs in by itself. ${event.remedy}`,
        ],
  'sink-written': ({ sink }) => ['info', { sink }, 'sink written'],
  'sink-failed': ({ sink, code }) => [
    'warn',
    { sink, cause: code },
    'a sink could not be written: it is tried again each second',
  ],
  draining: ({ signal, inFlight }) => [
    'info',
    { signal, inFlight },
    'stopping: requests under way are finished',
  ],
  stopped: ({ cut }) =>
    cut === 0
      ? ['info', { cut }, 'stopped']
      : ['warn', { cut }, `stopped: ${cut} requests were cut off at the drain timeout`],
  'traces-lost': ({ collector, why }) => [
    'warn',
    { collector },
    `traces are lost, and requests go on: the collector ${why}`,
  ],
  'traces-resumed': ({ collector }) => ['info', { collector }, 'the collector takes traces again'],
  'internal-error': ({ where, cause }) => [
    'error',
    { where, cause: stackOf(cause) },
    'internal error: please report it',
  ],
};

export function describe(event: Described): Line {
  // Each kind has its own function, which the compiler can't follow from the event to the table.
  return (LINES[event.type] as (event: Described) => Line)(event);
}

/** An error if requests fail for it, or if an operator has to act. */
export function severityOf({ error, usable }: LoginFailed): 'error' | 'warn' {
  return error.code === 'refused' || !usable ? 'error' : 'warn';
}

export type LoginFailed = Extract<Event, { type: 'login-failed' }>;
type TokenLost = Extract<Event, { type: 'token-expired' | 'token-rejected' }>;

function named({ credential, state, fingerprint, nextTryInMs }: TokenLost): object {
  return { credential, state, fingerprint, nextTryInSeconds: Math.ceil(nextTryInMs / 1000) };
}

function nextLogin({ nextTryInMs }: TokenLost): string {
  return `the next login begins in ${Math.ceil(nextTryInMs / 1000)} s`;
}

/** The code of a cause. A library's message is not shown: it may hold bytes of an answer, or an address. */
function causeCode(cause: unknown): string | undefined {
  if (cause === undefined || cause === null) return undefined;
  const { code, name, cause: inner } = cause as { code?: unknown; name?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return inner === undefined ? (typeof name === 'string' ? name : undefined) : causeCode(inner);
}

/** Our own message, if the error has one; else its code. */
function causeWords(cause: unknown): string | undefined {
  return cause instanceof OutboundProxyError ? cause.message : causeCode(cause);
}

/** The text that the client got and the remedy, in the style of a log message. */
function inWords({ detail, remedy }: Extract<Event, { type: 'upstream-failed' }>): string {
  const text = remedy === undefined ? detail : `${detail} ${remedy}`;
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/** The frames of a stack, without the message, which may hold anything. */
function stackOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return typeof cause;
  const frames = cause.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [cause.name, ...frames.slice(0, 5).map((line) => line.trim())].join(' | ');
}
