import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';

/**
 * Opens for reading, and never waits: without `O_NONBLOCK`, opening a named pipe waits for a writer that may never come.
 * Windows has neither such pipes nor the constant.
 */
export const WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The code of the error of a pipe, a device or a socket. */
export const NOT_A_FILE = 'ERR_NOT_A_FILE';

/**
 * The text of a file, read while requests are served. Looks before it opens, since opening a pipe disturbs its writer, and
 * again at what it opened, since that may be something else by then.
 *
 * @throws what `fs.readFileSync` throws; an error with the code `NOT_A_FILE` for what may never give its text
 */
export function plainFileSync(path: string): string {
  assertPlain(statSync(path));
  const fd = openSync(path, WITHOUT_WAITING);
  try {
    assertPlain(fstatSync(fd));
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** The same, on a thread of Node's pool. */
export async function plainFile(path: string): Promise<string> {
  assertPlain(await stat(path));
  const file = await open(path, WITHOUT_WAITING);
  try {
    assertPlain(await file.stat());
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** A folder passes: to read it fails at once, with an error of its own. */
function assertPlain(found: Stats): void {
  if (found.isFile() || found.isDirectory()) return;
  throw Object.assign(new Error('a pipe, a device or a socket'), { code: NOT_A_FILE });
}
