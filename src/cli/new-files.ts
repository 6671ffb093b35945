import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { NotWrittenError } from '../base/errors.ts';
import { readFailure } from '../config/reading/text-file.ts';

interface NewFile {
  readonly path: string;
  readonly text: string;
  /** Its permissions; those of any new file unless given. */
  readonly mode?: number;
}

/** @throws NotWrittenError if one of them exists */
export function assertNew(paths: readonly string[]): void {
  const existing = paths.find((path) => existsSync(path));
  if (existing !== undefined) throw notWritten(existing, EXISTS);
}

/**
 * Writes all files, or none of them; one that exists is never overwritten.
 *
 * @throws NotWrittenError
 */
export function writeNewFiles(files: readonly NewFile[]): void {
  assertNew(files.map(({ path }) => path));
  const written: string[] = [];
  for (const { path, text, mode = 0o666 } of files) {
    try {
      writeFileSync(path, text, { flag: 'wx', mode });
      written.push(path);
    } catch (error) {
      for (const each of written) rmSync(each, { force: true });
      throw notWritten(path, reasonFor(error));
    }
  }
}

function reasonFor(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return EXISTS;
  if (code === 'ENOENT') return 'its folder does not exist. Make it, or choose another with --output';
  return `${readFailure(error).reason}. Choose another folder with --output`;
}

const EXISTS =
  'it exists already, and stays as it is. Move it away, or choose another folder with --output FOLDER/bearerd.yaml';

function notWritten(path: string, why: string): NotWrittenError {
  return new NotWrittenError(`${path} is not written: ${why}`);
}
