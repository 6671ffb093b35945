import { isAbsolute, resolve } from 'node:path';
import { NOT_A_FILE } from './plain-file.ts';
import type { Reading } from './reading.ts';

/** Why a file can't be read. The words depend on the error's code only. */
interface ReadFailure {
  readonly reason: string;
  readonly missing: boolean;
  readonly folder: boolean;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ERR_ACCESS_DENIED: "Node's permissions don't allow it (--allow-fs-read)",
  ELOOP: 'its links go in a circle',
  ENAMETOOLONG: 'the path is too long',
  [NOT_A_FILE]: 'it is a pipe or a device, and no file',
};

export function readFailure(error: unknown): ReadFailure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'not readable';
  return {
    reason: REASONS[code] ?? code,
    // A file that Node's permission model hides counts as missing.
    missing: code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_ACCESS_DENIED',
    folder: code === 'EISDIR',
  };
}

/** Stands for a working directory that has been deleted. No file is below it, so a relative path names none. */
export const DELETED = '/dev/null';

export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return DELETED;
  }
}

/** Some editors begin a file with a byte order mark. */
export function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, '');
}

/**
 * A path as a message may show it. A secret may stand where its file's path belongs, so only what looks like a path
 * is shown.
 */
export function shown(path: string, folder: string): string {
  if (isAbsolute(path) || /^\.\.?\//.test(path)) return path;
  return `the file that it names (read from ${folder === DELETED ? 'a folder that has been deleted' : folder})`;
}

/** Only a shell replaces the `~`, and not in a file, a unit or behind `=`. */
export function homeHint(path: string): string {
  return path.startsWith('~/') ? '; nothing replaces the ~ here: write the whole path' : '';
}

/**
 * The text of a secret or TLS file; reports a fault if there is none. A relative path begins at `folder`. The file
 * is watched from now on.
 */
export function readTextFile(
  path: string,
  folder: string,
  key: string,
  reading: Pick<Reading, 'readFile' | 'report' | 'filesRead'>,
): { readonly path: string; readonly content: string } | undefined {
  const absolute = resolve(folder, path);
  try {
    const content = reading.readFile(absolute);
    reading.filesRead.set(absolute, path);
    return { path: absolute, content };
  } catch (error) {
    const { reason } = readFailure(error);
    const problem = `cannot read ${shown(path, folder)}: ${reason}${homeHint(path)}`;
    reading.report(key, problem, { ofFile: true });
    return undefined;
  }
}
