import { pino } from 'pino';
import { isCounted, type Observe, type RequestEvent } from '../base/events.ts';
import type { Config } from '../config/config.ts';
import { describe, type Line } from './event-line.ts';
import { hundredths } from './hundredths.ts';
import { type LogLoss, LogOutput } from './log-output.ts';
import { RefusalHints } from './refusal-hints.ts';
import { RepeatedFailures } from './repeated-failures.ts';
import { visibleJson } from './visible.ts';

export interface Log {
  readonly observe: Observe;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  setLevel(level: string): void;
  /** The command that tells why a request failed, for the lines of such requests that are for people. */
  nameWhy(command: string): void;
  /** Writes the lines still held; gives up after a time limit. */
  close(): Promise<void>;
  /** Drops the lines still held: the process ends now. */
  abandon(): void;
  /** The number of lines that could not be written. */
  readonly dropped: () => number;
  readonly loss: () => LogLoss | undefined;
}

/** Logs one JSON object a line, or lines for people on a terminal. `fd` is 2 if stdout belongs to someone else. */
export async function createLog({ level, format }: Config['log'], fd: 1 | 2 = 1): Promise<Log> {
  const terminal = (fd === 1 ? process.stdout : process.stderr).isTTY === true;
  const pretty = format === 'pretty' || (format === 'auto' && terminal);
  const repeated = pretty ? new RepeatedFailures() : undefined;
  const hints = pretty ? new RefusalHints() : undefined;
  let why: string | undefined;
  const output = new LogOutput(fd, pretty ? await terminalText(terminal, () => why) : visibleJson);
  const timestamp = isoTime();
  const formatters = { level: (label: string) => ({ level: label }) };
  const logger = pino({ level, base: null, timestamp, formatters }, output);
  const write = (severity: Line[0], fields: object, message: string) => logger[severity](fields, message);

  return {
    observe: (event) => {
      if (isCounted(event)) return;
      if (event.type === 'sink-failed' && event.again) return; // The first failure was logged.
      if (event.type !== 'request') {
        const line = repeated === undefined ? describe(event) : repeated.lineFor(event, performance.now());
        if (line !== undefined) write(...line);
      } else if (logger.isLevelEnabled('info')) {
        output.write(requestLine(event, timestamp()));
        const hint = hints?.lineFor(event, performance.now());
        if (hint !== undefined) write(...hint);
      }
    },
    info: (fields, message) => write('info', fields, message),
    warn: (fields, message) => write('warn', fields, message),
    error: (fields, message) => write('error', fields, message),
    nameWhy: (command) => {
      why = command;
    },
    setLevel: (next) => {
      logger.level = next;
    },
    close: () => output.close(),
    abandon: () => output.abandon(),
    dropped: output.dropped,
    loss: output.loss,
  };
}

/** Formats lines of JSON for people. Loaded only for pretty output. */
async function terminalText(
  isTerminal: boolean,
  why: () => string | undefined,
): Promise<(json: string) => string> {
  const { terminalLine, wantsColours } = await import('./terminal-line.ts');
  const colours = wantsColours(process.env, isTerminal);
  return (json) =>
    json
      .trimEnd()
      .split('\n')
      .map((line) => `${terminalLine(JSON.parse(line), colours, why())}\n`)
      .join('');
}

/** pino's ISO time. All but the milliseconds is formatted once a second, not once a line. */
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

/** The line that pino would write, at a quarter of the cost: it is by far the most frequent one. */
export function requestLine(event: RequestEvent, time: string): string {
  const code = event.code === undefined ? '' : `,"code":"${event.code}"`;
  const caller = event.caller ? `,"caller":"${event.caller}"` : '';
  const limitedBy = event.limitedBy === undefined ? '' : `,"limitedBy":"${event.limitedBy}"`;
  const closedBy = event.closedBy === undefined ? '' : `,"closedBy":"${event.closedBy}"`;
  const scrubbed = event.scrubbed === true ? ',"scrubbed":true' : '';
  const { trace } = event;
  const traced = trace === undefined ? '' : `,"trace_id":"${trace.traceId}","span_id":"${trace.spanId}"`;
  const aborted = event.aborted ? ',"aborted":true' : '';
  return `{"level":"info"${time},"method":"${event.method}","path":${JSON.stringify(event.path)},"route":${JSON.stringify(event.route)},"credential":${JSON.stringify(event.credential)},"status":${event.status},"durationMs":${hundredths(event.durationMs)},"bytesIn":${event.bytesIn},"bytesOut":${event.bytesOut},"requestId":"${event.requestId}"${caller}${code}${limitedBy}${aborted}${closedBy}${scrubbed}${traced},"msg":"request"}\n`;
}
