import { OutboundProxyError } from '../base/errors.ts';
import type { Event, RequestEvent, ShareOperationEvent } from '../base/events.ts';

/** How grave it is, what belongs to it, and the message. */
export type Line = ['info' | 'warn' | 'error', object, string];

/** What happened, in plain words. Nothing here holds a secret, a token or a body. */
export function describe(event: Exclude<Event, RequestEvent | ShareOperationEvent>): Line {
  switch (event.type) {
    case 'login-succeeded': {
      const { credential, state, fingerprint, warnings } = event;
      const fields = {
        credential,
        state,
        fingerprint,
        durationMs: Math.round(event.durationMs),
        expiresInSeconds: Math.round(event.lifetimeMs / 1000),
        renewInSeconds: Math.round(event.renewInMs / 1000),
        ...(warnings.length === 0 ? {} : { warnings }),
      };
      return [
        warnings.length === 0 ? 'info' : 'warn',
        fields,
        event.taken ? 'took the fresh access token of another instance' : 'logged in: a fresh access token',
      ];
    }
    case 'login-failed': {
      const { credential, state, error, usable } = event;
      const fields = {
        credential,
        state,
        reason: error.code,
        status: error.status,
        durationMs: Math.round(event.durationMs),
        nextTryInSeconds: Math.round(event.nextTryInMs / 1000),
        tokenUsable: usable,
        cause: causeCode(error.cause),
      };
      return [
        error.code === 'refused' || !usable ? 'error' : 'warn',
        fields,
        `login failed: ${error.message}`,
      ];
    }
    case 'token-expired':
      return ['warn', named(event), 'the access token has expired and there is no newer one'];
    case 'token-rejected':
      return ['warn', named(event), 'the upstream rejected the access token (401): it is renewed'];
    case 'upstream-failed':
      return [
        'warn',
        { code: event.code, route: event.route, cause: causeWords(event.cause) },
        inWords(event),
      ];
    case 'doubtful-setting':
      return ['warn', { key: event.key }, `${event.key} ${event.problem}`];
    case 'reloaded': {
      const { restartNeededFor } = event;
      const rest = restartNeededFor.length === 0 ? '' : '; what is listed takes effect after a restart';
      return [
        'info',
        { by: event.by, ...(rest === '' ? {} : { restartNeededFor }) },
        `configuration reloaded${rest}`,
      ];
    }
    case 'reload-refused':
      return [
        'error',
        { by: event.by, reason: event.reason },
        'the new configuration is faulty: the old one goes on',
      ];
    case 'secret-trouble':
      return [
        'warn',
        { path: event.path, reason: event.reason },
        'a secret file is not usable: the last value goes on',
      ];
    case 'stop-announced':
      return [
        'info',
        { signal: event.signal, delayMs: event.delayMs },
        'not ready any more: requests are still taken for the shutdown delay',
      ];
    case 'share-state':
      if (event.state === 'ready') return ['info', {}, 'access tokens are shared with other instances'];
      return [
        'warn',
        { reason: event.reason },
        `${event.detail}. Until that is mended each instance logs in by itself. ${event.remedy}`,
      ];
    case 'sink-written':
      return ['info', { sink: event.sink }, 'sink written'];
    case 'sink-failed':
      return [
        'warn',
        { sink: event.sink, cause: event.code },
        'a sink could not be written: it is tried again each second',
      ];
    case 'draining':
      return [
        'info',
        { signal: event.signal, inFlight: event.inFlight },
        'stopping: requests under way are finished',
      ];
    case 'stopped':
      return event.cut === 0
        ? ['info', { cut: 0 }, 'stopped']
        : ['warn', { cut: event.cut }, `stopped: ${event.cut} requests were cut off at the drain timeout`];
    case 'traces-lost':
      return [
        'warn',
        { collector: event.collector },
        `traces are lost, and requests go on: the collector ${event.why}`,
      ];
    case 'traces-resumed':
      return ['info', { collector: event.collector }, 'the collector takes traces again'];
    case 'internal-error':
      return [
        'error',
        { where: event.where, cause: stackOf(event.cause) },
        'internal error: please report it',
      ];
  }
}

function named({
  credential,
  state,
  fingerprint,
}: Extract<Event, { type: 'token-expired' | 'token-rejected' }>): object {
  return { credential, state, fingerprint };
}

/** A code is for everybody; a library's message may hold bytes of an answer, or an address. */
function causeCode(cause: unknown): string | undefined {
  if (cause === undefined || cause === null) return undefined;
  const { code, name, cause: inner } = cause as { code?: unknown; name?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return inner === undefined ? (typeof name === 'string' ? name : undefined) : causeCode(inner);
}

/** Our own words, where there are any. */
function causeWords(cause: unknown): string | undefined {
  return cause instanceof OutboundProxyError ? cause.message : causeCode(cause);
}

/** The text that the client got, and what to do about it, as one of our lines. */
function inWords({ detail, remedy }: Extract<Event, { type: 'upstream-failed' }>): string {
  const text = remedy === undefined ? detail : `${detail} ${remedy}`;
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/** Frames without the message: where it was, not what it held. */
function stackOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return typeof cause;
  const frames = cause.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [cause.name, ...frames.slice(0, 5).map((line) => line.trim())].join(' | ');
}
