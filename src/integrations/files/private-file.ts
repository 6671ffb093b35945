import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../base/failures/kind.ts';

/**
 * Replaces a file, completely or not at all. Writes a new file that only bearerd's user can read, and renames it: a
 * link at either path is replaced, never followed. Envoy notices nothing but a rename.
 *
 * @returns the trace of the new file; if another process has changed the file already, a trace that no file has
 */
export async function replaceFile(path: string, content: Buffer): Promise<string> {
  const next = join(dirname(path), `.${basename(path)}.bearerd`);
  // A run that was killed between the two steps has left it.
  await rm(next, { force: true });
  try {
    const written = await write(await open(next, 'wx', 0o600), content);
    await rename(next, path);
    // A rename changes nothing but the ctime.
    const found = await lstat(path, { bigint: true }).catch(() => undefined);
    const isOurs = (['ino', 'size', 'mode', 'mtimeNs'] as const).every((of) => found?.[of] === written[of]);
    return found !== undefined && isOurs ? traceIn(found) : CHANGED;
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw error;
  }
}

/** The trace of a missing file, and one that no file has. */
export const NO_FILE = 'none';
const CHANGED = 'changed';

/** The trace of a file, which changes when the file is replaced, written or removed, or gets another mode. */
export async function traceOf(path: string): Promise<string> {
  try {
    return traceIn(await lstat(path, { bigint: true }));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return NO_FILE;
    throw error;
  }
}

const traceIn = ({ ino, ctimeNs, size }: BigIntStats): string => `${ino} ${ctimeNs} ${size}`;

async function write(file: FileHandle, content: Buffer): Promise<BigIntStats> {
  try {
    await file.writeFile(content);
    return await file.stat({ bigint: true });
  } finally {
    await file.close();
  }
}
