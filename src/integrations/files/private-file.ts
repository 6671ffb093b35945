import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * Puts a text in the place of a file, whole or not at all. What is written is a new file that is ours alone: a link that
 * waits at either name is replaced and never followed. Envoy, too, looks for a rename and for nothing else.
 */
export async function replaceFile(path: string, content: Buffer): Promise<void> {
  const next = join(dirname(path), `.${basename(path)}.bearerd`);
  // What another run left there, when it was killed between the two steps.
  await rm(next, { force: true });
  try {
    await write(await open(next, 'wx', 0o600), content);
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true }).catch(() => {});
    throw error;
  }
}

/** What changes when anybody replaces, writes, removes or opens up the file; read without a look into it. */
export async function traceOf(path: string): Promise<string> {
  try {
    const { ino, ctimeNs, size } = await lstat(path, { bigint: true });
    return `${ino} ${ctimeNs} ${size}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'none';
    throw error;
  }
}

async function write(file: FileHandle, content: Buffer): Promise<void> {
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}
