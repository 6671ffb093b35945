import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Replaces a file by a text, whole or not at all. It writes a new file for our user alone and renames it: a link at
 * either name is replaced and never followed. Envoy, too, notices only a rename.
 *
 * @returns the trace of what was written; one that no file bears where another has changed it since
 */
export async function replaceFile(path: string, content: Buffer): Promise<string> {
  const next = join(dirname(path), `.${basename(path)}.bearerd`);
  // Left by a run that was killed between the two steps.
  await rm(next, { force: true });
  try {
    const written = await write(await open(next, 'wx', 0o600), content);
    await rename(next, path);
    // A rename changes no more than the ctime.
    const found = await lstat(path, { bigint: true }).catch(() => undefined);
    const isOurs = (['ino', 'size', 'mode', 'mtimeNs'] as const).every((of) => found?.[of] === written[of]);
    return found !== undefined && isOurs ? traceIn(found) : CHANGED;
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw error;
  }
}

/** The trace of no file, and one that none bears. */
export const NO_FILE = 'none';
const CHANGED = 'changed';

/** What changes when anybody replaces, writes, removes or opens up the file; read without a look into it. */
export async function traceOf(path: string): Promise<string> {
  try {
    return traceIn(await lstat(path, { bigint: true }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NO_FILE;
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
