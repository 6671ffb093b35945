import type { Environment } from '../base/environment.ts';
import { visible, visibleJson } from './visible.ts';
import { isFailed } from './why/why.ts';

/** The fields of a log line in JSON. */
export type LogRecord = Readonly<Record<string, unknown>>;

const COLOURS = { dim: '2', red: '31', yellow: '33', green: '32', cyan: '36' } as const;
type Paint = (colour: keyof typeof COLOURS, text: string) => string;

const coloured: Paint = (colour, text) => `\x1b[${COLOURS[colour]}m${text}\x1b[0m`;
const plain: Paint = (_colour, text) => text;

/** Short paths are padded, so that statuses are aligned. */
const PATH_WIDTH = 32;
const METHOD_WIDTH = 6;

/**
 * One line for people, without its end. Nothing that a client or an upstream chose can move their cursor.
 *
 * @param why the command that tells of a request, to which its ID is added; undefined if none can
 */
export function terminalLine(record: LogRecord, colours: boolean, why?: string): string {
  const paint = colours ? coloured : plain;
  const time = paint('dim', clockTime(record.time));
  if (record.msg !== 'request') return `${time} ${eventText(record, paint)}`;
  const hint =
    why !== undefined && hasFailed(record) ? ` ${paint('dim', `${why} ${text(record.requestId)}`)}` : '';
  return `${time} ${requestText(record, paint)}${hint}`;
}

function hasFailed({ status, code, aborted }: LogRecord): boolean {
  return isFailed({ status, code, aborted: aborted === true } as Parameters<typeof isFailed>[0]);
}

function requestText(record: LogRecord, paint: Paint): string {
  const status = Number(record.status);
  const tint = (text: string) => (status < 400 ? text : paint(status < 500 ? 'yellow' : 'red', text));
  const remarks = [
    record.code,
    record.limitedBy && `limit of the ${record.limitedBy}`,
    record.aborted && 'the client left',
    record.scrubbed && 'the credential was struck out',
    record.closedBy && `closed by ${record.closedBy}`,
  ];
  return [
    orDash(record.method).padEnd(METHOD_WIDTH),
    orDash(record.path).padEnd(PATH_WIDTH),
    tint(status === 0 ? '  –' : String(status)),
    `${Math.round(Number(record.durationMs) * 10) / 10} ms`.padStart(9),
    ...(record.credential === '' ? [] : [paint('dim', `→ ${text(record.credential)}`)]),
    ...(record.caller === undefined || record.caller === ''
      ? []
      : [paint('dim', `for ${text(record.caller)}`)]),
    ...remarks.filter(Boolean).map((remark) => tint(visible(String(remark)))),
  ].join(' ');
}

const LEVELS: Readonly<Record<string, (paint: Paint) => string>> = {
  warn: (paint) => `${paint('yellow', 'WARN')} `,
  error: (paint) => `${paint('red', 'ERROR')} `,
};

function eventText({ level, time: _, msg, ...fields }: LogRecord, paint: Paint): string {
  const shown = Object.entries(fields).map(([name, value]) => ` ${paint('dim', `${name}=`)}${text(value)}`);
  return (LEVELS[String(level)]?.(paint) ?? '') + visible(String(msg)) + shown.join('');
}

/** A request that the parser refused has neither method nor path. */
function orDash(value: unknown): string {
  return value === '' ? '–' : text(value);
}

/** A value, quoted if it is empty or holds white space or quotes. */
function text(value: unknown): string {
  if (Array.isArray(value)) return value.map(text).join(',');
  const plainText = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return typeof value === 'string' && /[\s"]|^$/.test(value)
    ? visibleJson(JSON.stringify(value))
    : visible(plainText);
}

/** The local time of day. */
function clockTime(time: unknown): string {
  const at = new Date(String(time));
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
}

/**
 * Whether lines may hold escape sequences. `NO_COLOR` (no-color.org) wins over `FORCE_COLOR`, which wins over the kind of
 * output. As in Node, `FORCE_COLOR=0` means no colours.
 */
export function wantsColours(env: Environment, isTerminal: boolean): boolean {
  const { NO_COLOR = '', FORCE_COLOR = '', TERM } = env;
  if (NO_COLOR !== '') return false;
  if (FORCE_COLOR === '0' || FORCE_COLOR === 'false') return false;
  return FORCE_COLOR !== '' || (isTerminal && TERM !== 'dumb');
}
