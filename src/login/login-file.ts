import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../base/failures/kind.ts';
import { LoginError } from '../base/login-error.ts';
import { Secret } from '../base/secret.ts';
import { unlessAborted } from '../base/unless-aborted.ts';
import { WITHOUT_WAITING } from '../config/reading/plain-file.ts';
import { readFailure } from '../config/reading/text-file.ts';
import type { LoginFile } from '../config/shapes/login-file.ts';

const MAX_FILE_BYTES = 64 * 1024;
/** The pause before the next look at a pipe whose writer has not written yet. */
const PIPE_LOOK_MS = 20;

/** Opens a file for reading; the system's unless a test passes its own. */
export type OpenFile = (path: string) => Promise<FileHandle>;

/** A pipe without a writer is empty at once. */
const openNow: OpenFile = (path) => open(path, WITHOUT_WAITING);

/**
 * A file's present content, without white space around it. Gives up when `signal` aborts, though a read from a file system
 * that hangs goes on.
 *
 * @param what the file's name in a message
 * @param signal aborts at the time limit of the login, and with the login
 * @throws LoginError if it can't be read: it may exist at the next try.
 */
export async function readLoginFile(
  { path, shown }: LoginFile,
  what: string,
  signal: AbortSignal,
  openFile = openNow,
): Promise<Secret> {
  const failure = (reason: string) =>
    new LoginError('unreachable', `the ${what} can't be read from ${shown}: ${reason}`);
  const text = await inTurn(path, signal, () => readLimited(path, signal, openFile)).catch(
    (error: unknown) => {
      throw failure(signal.aborted ? 'its content did not come in time' : readFailure(error).reason);
    },
  );
  if (text === undefined) throw failure('it is larger than 64 KiB');
  if (text.trim() === '') throw failure('the file is empty');
  return new Secret(text.trim());
}

/** By path, the reads that have not ended. They never reject. */
const underWay = new Map<string, Promise<unknown>>();

/**
 * Reads when no other read of the same path is under way. A read that hangs holds a thread of Node's pool: if each login
 * began one more, no thread would be left for other files and for names of hosts.
 */
async function inTurn<T>(path: string, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  for (let before = underWay.get(path); before !== undefined; before = underWay.get(path))
    await unlessAborted(before, signal);
  const reading = read().finally(() => underWay.delete(path));
  underWay.set(
    path,
    reading.catch(() => {}),
  );
  return unlessAborted(reading, signal);
}

/** Undefined if the file is too large, as an endless device is. */
async function readLimited(
  path: string,
  signal: AbortSignal,
  openFile: OpenFile,
): Promise<string | undefined> {
  const file = await openFile(path);
  try {
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    let size = 0;
    while (size < buffer.length) {
      const bytesRead = await readInto(buffer.subarray(size), file, signal);
      if (bytesRead === 0) return buffer.toString('utf8', 0, size);
      size += bytesRead;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

/** @returns how many bytes came; 0 at the end */
async function readInto(rest: Buffer, file: FileHandle, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      return (await file.read(rest)).bytesRead;
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error; // A pipe has a writer, which has not written yet.
    }
    await sleep(PIPE_LOOK_MS, undefined, { signal });
  }
}
