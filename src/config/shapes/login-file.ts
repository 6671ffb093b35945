import { resolve } from 'node:path';
import { entry, isAbsent, isMap } from '../reading/maps.ts';
import { folderOf } from '../reading/reading.ts';
import { shown } from '../reading/text-file.ts';
import { mapSchema } from './field.ts';
import type { At, Shape } from './shape.ts';

/** A file that is read anew at each login: a change needs no reload. */
export interface LoginFile {
  /** Absolute. */
  readonly path: string;
  /** As a message may show it. */
  readonly shown: string;
}

/** Not opened here: it may appear later, and each login reads it anew. */
function loginFile(path: string, { reading }: At): LoginFile {
  const folder = folderOf(reading);
  return { path: resolve(folder, path), shown: shown(path, folder) };
}

const TEXT = { type: 'string', minLength: 1 };

/** `{file: PATH}`, read anew at each login. No fault shows the value, which may be a secret by mistake. */
export const fileShape: Shape<LoginFile, { readonly file: string }> = {
  schema: mapSchema({ file: TEXT }, ['file']),
  read(raw, at) {
    if (isAbsent(raw)) return undefined;
    const path = isMap(raw) && Object.keys(raw).length === 1 ? entry(raw, 'file') : undefined;
    if (typeof path === 'string' && path !== '') return loginFile(path, at);
    return at.report('must be {file: PATH}; it is read anew at each login');
  },
  show: (value) => ({ file: value.shown }),
};

/** Such a file, named by its path alone. */
export const pathShape: Shape<LoginFile, string> = {
  schema: TEXT,
  read(raw, at) {
    if (isAbsent(raw)) return undefined;
    if (typeof raw === 'string' && raw !== '') return loginFile(raw, at);
    return at.report('must be a path');
  },
  show: (value) => value.shown,
};
