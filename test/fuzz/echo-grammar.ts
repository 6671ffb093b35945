import { ENCODINGS } from '../forward/scrub/encodings.ts';
import type { Chance } from './chance.ts';

/** What a hostile upstream echoes: its answer in pieces, and what of it may come out. */
export interface Echo {
  readonly pieces: readonly Buffer[];
  /** The connection's end is that of the body. */
  readonly ends: boolean;
  readonly status: number;
  readonly reason: string;
  readonly header: string;
  readonly body: string;
}

/** Each part as it is sent, and as it is to arrive. */
interface Part {
  readonly sent: string;
  readonly expected: string;
}

const FORMS = Object.entries(ENCODINGS);
/** Those that a header's value can hold. */
const LINE_FORMS = FORMS.filter(([name]) => !/lines/.test(name));
/** None of it can be a part of a match, so that what is struck out is known beforehand. */
export const BETWEEN = [' ', '|', '~ ~', 'data: ', '\n\n', '!', '()', '\xe6\x97\xa5', '{"', '"} '];
const LINE = [' ', '|', '~', '()', '!', '\xe6\x97\xa5'];

/** @param token it holds nothing of `BETWEEN` */
export function echoOf(chance: Chance, token: string): Echo {
  // No 401, for which the proxy waits until it may log in again.
  const status = chance.pick([200, 200, 404, 500, 403, 206]);
  const reason = textOf(chance, token, LINE, 1);
  const header = textOf(chance, token, LINE, 2);
  const body = textOf(chance, token, BETWEEN, 6);
  const framing = chance.pick(['length', 'chunks', 'end'] as const);
  const lines = [`x-echo: <${header.sent}>`, 'content-type: text/event-stream'];
  if (framing === 'length') lines.push(`content-length: ${body.sent.length}`);
  else lines.push(framing === 'chunks' ? 'transfer-encoding: chunked' : 'connection: close');
  const head = `HTTP/1.1 ${status} <${reason.sent}>\r\n${lines.join('\r\n')}\r\n\r\n`;
  const framed = framing === 'chunks' ? chunks(chance, body.sent) : body.sent;
  return {
    pieces: cuts(chance, head + framed).map((piece) => Buffer.from(piece, 'latin1')),
    ends: framing === 'end',
    status,
    reason: `<${reason.expected}>`,
    header: `<${header.expected}>`,
    body: body.expected,
  };
}

export function textOf(chance: Chance, token: string, between: readonly string[], most: number): Part {
  const parts = Array.from({ length: chance.below(most + 1) }, () => [
    plain(chance.pick(between)),
    chance.odds(0.2) ? nearly(chance, token) : echoed(chance, token, between === LINE ? LINE_FORMS : FORMS),
    plain(chance.pick(between)),
  ]).flat();
  return {
    sent: parts.map(({ sent }) => sent).join(''),
    expected: parts.map(({ expected }) => expected).join(''),
  };
}

const plain = (sent: string): Part => ({ sent, expected: sent });

/** Less than the whole passes as it is. */
function nearly(chance: Chance, token: string): Part {
  const length = 1 + chance.below(token.length - 1);
  return plain(chance.odds(0.5) ? token.slice(0, length) : token.slice(-length));
}

function echoed(chance: Chance, token: string, forms: typeof FORMS): Part {
  const [name, encode] = chance.pick(forms);
  const sent = encode(token);
  if (!name.startsWith('base64')) return { sent, expected: '*'.repeat(sent.length) };
  // Within base64, what holds a bit of the token goes, and the padding and what stands around it stays.
  return { sent, expected: base64Expected(sent, token, prefixOf(name)) };
}

/** How many bytes `ENCODINGS` puts before it. */
function prefixOf(name: string): number {
  if (name === 'base64' || name === 'base64url') return 0;
  if (name === 'base64, second place') return 1;
  if (name === 'base64url, second place') return 'Bearer '.length;
  if (name === 'base64url, third place') return 'u:'.length;
  return 'user:'.length;
}

function base64Expected(sent: string, token: string, before: number): string {
  const from = Math.floor((before * 8) / 6);
  const to = Math.ceil(((before + token.length) * 8) / 6);
  // An escape is one character of base64; a line's end within what is struck out goes with it.
  const units = sent.match(/\r?\n *|\\n|%..|\\.|./gs) ?? [];
  let characters = 0;
  return units
    .map((unit) => {
      const isBreak = /^(?:\r?\n|\\n)/.test(unit);
      const struck = characters < to && (isBreak ? characters > from : characters >= from);
      if (!isBreak) characters++;
      return struck ? '*'.repeat(unit.length) : unit;
    })
    .join('');
}

function chunks(chance: Chance, body: string): string {
  const parts = cuts(chance, body).filter((part) => part !== '');
  return `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;
}

export function cuts(chance: Chance, whole: string): string[] {
  const most = chance.pick([0, 1, 3, 12, 60]);
  const at = Array.from({ length: chance.below(most + 1) }, () => chance.below(whole.length + 1));
  const ends = [...at.sort((a, b) => a - b), whole.length];
  return ends.map((end, i) => whole.slice(ends[i - 1] ?? 0, end));
}
