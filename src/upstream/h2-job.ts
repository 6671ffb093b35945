import type { Dispatcher } from 'undici';
import type { ConnectionAware } from './connection.ts';

/** A request on its way to an HTTP/2 connection. */
export interface Http2Job {
  readonly options: Dispatcher.DispatchOptions;
  readonly handler: Dispatcher.DispatchHandler & ConnectionAware;
  /** It has been refused unseen once, and is sent a second time. */
  again: boolean;
}

/** For a job that has not got as far as a stream. */
const NOTHING_TO_CONTROL: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
};

/** Tells of the end of a job that no connection has taken. */
export function failUnsent({ handler }: Http2Job, error: Error): void {
  handler.onResponseError?.(NOTHING_TO_CONTROL, error);
}

/** The body can be sent a second time. */
export function isRepeatable({ options: { body } }: Http2Job): boolean {
  return body === null || body === undefined || Buffer.isBuffer(body);
}

/**
 * Names and values for the wire: the pseudo headers, then the client's own, in lower case (RFC 9113 §8.2), in their
 * order, repeats as lines of their own.
 */
export function requestFields(
  { method, path, headers }: Dispatcher.DispatchOptions,
  authority: string,
): string[] {
  const fields = [':method', method, ':scheme', 'https', ':authority', authority, ':path', path];
  const pairs = headers as string[];
  for (let i = 0; i < pairs.length; i += 2) fields.push(pairs[i]!.toLowerCase(), pairs[i + 1]!);
  return fields;
}

/** `: ` and the line end, as HTTP/1.1 would need them: one limit for both. */
const LINE_BYTES = 4;

/**
 * A response's header lines: names and values in turn, each character a byte.
 *
 * @returns undefined where they are too large
 */
export function responseFields(raw: readonly string[], limitBytes: number): string[] | undefined {
  const fields: string[] = [];
  let bytes = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.startsWith(':')) continue;
    bytes += name.length + raw[i + 1]!.length + LINE_BYTES;
    if (bytes > limitBytes) return undefined;
    fields.push(name, raw[i + 1]!);
  }
  return fields;
}
