import { type FieldLines, fieldOf } from '../base/fields.ts';
import type { OutgoingRequest } from './carrier.ts';

/**
 * Names and values for the wire: the pseudo headers, then the client's own, in lower case (RFC 9113 §8.2), in their
 * order, repeats as lines of their own.
 */
export function requestFields({ method, target, headers }: OutgoingRequest, authority: string): string[] {
  const fields = [':method', method, ':scheme', 'https', ':authority', authority, ':path', target];
  for (let i = 0; i < headers.length; i += 2) fields.push(headers[i]!.toLowerCase(), headers[i + 1]!);
  return fields;
}

/** `: ` and the line end, as HTTP/1.1 would need them: one limit for both. */
const LINE_BYTES = 4;

/**
 * A response's header lines.
 *
 * @param raw as the library gives them, pseudo headers among them; each character a byte
 * @returns undefined where they are too large
 */
export function responseLines(raw: readonly string[], limitBytes: number): FieldLines | undefined {
  const pairs: string[] = [];
  const fields: number[] = [];
  let bytes = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.startsWith(':')) continue;
    const value = raw[i + 1]!.trim();
    bytes += name.length + value.length + LINE_BYTES;
    if (bytes > limitBytes) return undefined;
    pairs.push(name, value);
    fields.push(fieldOf(name));
  }
  return { pairs, fields };
}
