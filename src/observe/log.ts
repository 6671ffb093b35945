import { pino } from 'pino';
import type { Config } from '../config/config.ts';
import { OutboundProxyError } from '../errors.ts';
import type { Event, Observe, RequestEvent } from '../events.ts';
import { wantsColours } from './colours.ts';
import { Gatherer } from './gatherer.ts';
import { visibleJson } from './visible.ts';

export interface Log {
  readonly observe: Observe;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  setLevel(level: string): void;
  /** Writes out what is still held, at the process's end; gives up where it can't be written in a moment. */
  close(): Promise<void>;
  /** Lets go of what is held: the process ends now. */
  abandon(): void;
  /** Lines that could not be written: a full disk, a closed pipe. */
  readonly dropped: () => number;
}

/** Lines are held in memory up to this size while stdout can't take them; then they are dropped and counted. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
/** A disk that is full, or a pipe that nobody reads, must not hold up the end. */
const CLOSE_LIMIT_MS = 300;

/** One JSON object a line on stdout, or for people on a terminal. `fd` is 2 for `exec`, whose stdout is the command's. */
export async function createLog({ level, format }: Config['log'], fd: 1 | 2 = 1): Promise<Log> {
  let dropped = 0;
  const destination = pino.destination({ dest: fd, sync: false, maxLength: MAX_HELD_BYTES });
  // Whoever read our log has gone, or the disk is full: the proxy serves on.
  let readerGone = false;
  destination.on('error', ({ code }: NodeJS.ErrnoException) => {
    dropped++;
    if (code === 'EPIPE') readerGone = true;
  });
  destination.on('drop', (text: string) => {
    dropped += linesIn(text);
  });
  const terminal = (fd === 1 ? process.stdout : process.stderr).isTTY === true;
  const pretty = format === 'pretty' || (format === 'auto' && terminal);
  const render = pretty ? await terminalText(wantsColours(process.env, terminal)) : visibleJson;
  const options = {
    level,
    base: null,
    timestamp: isoTime(),
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const lines = new Gatherer((text) => {
    if (readerGone) {
      dropped += linesIn(text); // Nobody will ever read it: it is counted, and not held.
      return;
    }
    try {
      destination.write(render(text));
    } catch {
      dropped += linesIn(text); // The destination is closed.
    }
  });
  const logger = pino(options, lines);
  const write = (severity: Line[0], fields: object, message: string) => logger[severity](fields, message);

  return {
    observe: (event) => {
      if (event.type !== 'request') write(...describe(event));
      else if (logger.isLevelEnabled('info')) lines.write(requestLine(event, options.timestamp()));
    },
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
    setLevel: (next) => {
      logger.level = next;
    },
    // Not `flushSync`, which tries again for ever; and destroyed, since pino itself flushes so at the exit.
    close: () =>
      new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          destination.destroy();
          resolve();
        };
        const timer = setTimeout(done, CLOSE_LIMIT_MS);
        destination.once('close', done);
        lines.flush();
        destination.end();
      }),
    abandon: () => destination.destroy(),
    dropped: () => dropped,
  };
}

/** Makes lines for people of lines of JSON. Loaded only where there are such people. */
async function terminalText(colours: boolean): Promise<(json: string) => string> {
  const { terminalLine } = await import('./terminal-line.ts');
  return (json) =>
    json
      .trimEnd()
      .split('\n')
      .map((line) => `${terminalLine(JSON.parse(line), colours)}\n`)
      .join('');
}

/** pino's own ISO time, of which all but the milliseconds is made once a second and not once a line. */
function isoTime(): () => string {
  let second = 0;
  let start = '';
  return () => {
    const now = Date.now();
    const milliseconds = now % 1000;
    if (now - milliseconds !== second) {
      second = now - milliseconds;
      start = new Date(second).toISOString().slice(0, -'000Z'.length);
    }
    return `,"time":"${start}${String(milliseconds).padStart(3, '0')}Z"`;
  };
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}

/** As pino would write it, at a quarter of the cost: no line is written as often. */
function requestLine(event: RequestEvent, time: string): string {
  const code = event.code === undefined ? '' : `,"code":"${event.code}"`;
  const caller = event.caller ? `,"caller":"${event.caller}"` : '';
  const closedBy = event.closedBy === undefined ? '' : `,"closedBy":"${event.closedBy}"`;
  const scrubbed = event.scrubbed === true ? ',"scrubbed":true' : '';
  const aborted = event.aborted ? ',"aborted":true' : '';
  return `{"level":"info"${time},"method":"${event.method}","path":${JSON.stringify(event.path)},"route":${JSON.stringify(event.route)},"credential":${JSON.stringify(event.credential)},"status":${event.status},"durationMs":${Math.round(event.durationMs * 100) / 100},"bytesIn":${event.bytesIn},"bytesOut":${event.bytesOut},"requestId":"${event.requestId}"${caller}${code}${aborted}${closedBy}${scrubbed},"msg":"request"}\n`;
}

type Line = ['info' | 'warn' | 'error', object, string];

/** What happened, in plain words. Nothing here holds a secret, a token or a body. */
function describe(event: Exclude<Event, RequestEvent>): Line {
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
      return [warnings.length === 0 ? 'info' : 'warn', fields, 'logged in: a fresh access token'];
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
        'the upstream failed',
      ];
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

/** Frames without the message: where it was, not what it held. */
function stackOf(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return typeof cause;
  const frames = cause.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  return [cause.name, ...frames.slice(0, 5).map((line) => line.trim())].join(' | ');
}
