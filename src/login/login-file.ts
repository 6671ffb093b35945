import { open } from 'node:fs/promises';
import { LoginError } from '../base/login-error.ts';
import { Secret } from '../base/secret.ts';
import { readFailure } from '../config/reading/text-file.ts';
import type { LoginFile } from '../config/shapes/login-file.ts';

const MAX_FILE_BYTES = 64 * 1024;

/**
 * A file's present content, without white space around it.
 *
 * @param what the file's name in a message
 * @throws LoginError if it can't be read: it may exist at the next try.
 */
export async function readLoginFile({ path, shown }: LoginFile, what: string): Promise<Secret> {
  const failure = (reason: string) =>
    new LoginError('unreachable', `the ${what} can't be read from ${shown}: ${reason}`);
  const text = await readLimited(path).catch((error: unknown) => {
    throw failure(readFailure(error).reason);
  });
  if (text === undefined) throw failure('it is larger than 64 KiB');
  if (text.trim() === '') throw failure('the file is empty');
  return new Secret(text.trim());
}

/** Undefined if the file is too large, as an endless device is. */
async function readLimited(path: string): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
    let size = 0;
    while (size < buffer.length) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size);
      if (bytesRead === 0) return buffer.toString('utf8', 0, size);
      size += bytesRead;
    }
    return undefined;
  } finally {
    await file.close();
  }
}
