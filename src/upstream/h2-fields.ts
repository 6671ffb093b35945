import { withoutBlanks } from '../base/bytes.ts';
import { type FieldLines, fieldOf } from '../base/fields.ts';
import type { OutgoingRequest } from './carrier.ts';

/**
 * Names and values for the wire: the pseudo header fields, then the client's header lines in their order, with names in
 * lower case (RFC 9113 §8.2). A repeated header stays on several lines.
 */
export function requestFields({ method, target, headers }: OutgoingRequest, authority: string): string[] {
  const fields = [':method', method, ':scheme', 'https', ':authority', authority, ':path', target];
  for (let i = 0; i < headers.length; i += 2) fields.push(headers[i]!.toLowerCase(), headers[i + 1]!);
  return fields;
}

/** For `: ` and the line end. HTTP/2 has neither; they are counted so that one limit means the same in both versions. */
const LINE_BYTES = 4;

/**
 * A response's header lines.
 *
 * @param raw names and values as the library gives them, with pseudo header fields; each character is a byte
 * @returns undefined if they exceed the limit
 */
export function responseLines(raw: readonly string[], limitBytes: number): FieldLines | undefined {
  const pairs: string[] = [];
  const fields: number[] = [];
  let bytes = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.startsWith(':')) continue;
    const value = withoutBlanks(raw[i + 1]!);
    bytes += name.length + value.length + LINE_BYTES;
    if (bytes > limitBytes) return undefined;
    pairs.push(name, value);
    fields.push(fieldOf(name));
  }
  return { pairs, fields };
}
