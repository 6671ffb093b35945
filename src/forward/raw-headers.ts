import type { Dispatcher } from 'undici';

/** What lies between the first and the last line may be more than the lines: two reads from one block of memory. */
const LONGEST_HEAD = 64 * 1024;

/** A response's header lines, whichever connection they came by: names and values in turn, each character a byte. */
export function rawHeaders({ rawHeaders: raw }: Dispatcher.DispatchController): readonly string[] {
  if (!Array.isArray(raw) || raw.length === 0) return [];
  return Buffer.isBuffer(raw[0]) ? headerText(raw as Buffer[]) : (raw as string[]);
}

/**
 * undici gives slices of what was read from the socket. They mostly lie one behind the other, and one long conversion
 * is cheaper than many short ones.
 */
function headerText(raw: readonly Buffer[]): string[] {
  const { length } = raw;
  const { buffer, byteOffset: start } = raw[0]!;
  const last = raw[length - 1]!;
  const end = last.byteOffset + last.length;
  const inOrder = last.buffer === buffer && end - start <= LONGEST_HEAD;
  const text = inOrder ? Buffer.from(buffer, start, Math.max(0, end - start)).toString('latin1') : '';
  const result: string[] = [];
  for (let i = 0; i < length; i++) {
    const bytes = raw[i]!;
    const from = bytes.byteOffset - start;
    const to = from + bytes.length;
    // A line that came in two pieces has been put together elsewhere.
    const within = inOrder && bytes.buffer === buffer && from >= 0 && to <= text.length;
    result.push(within ? text.slice(from, to) : bytes.toString('latin1'));
  }
  return result;
}
