import { resolve } from 'node:path';

import type { ClientCertificate, LoginFile } from '../config.ts';
import { OAUTH2_TLS } from '../declaration/file-fields.ts';
import { below, entry, isAbsent, isMap, readMap, reportUnknownKeys, type YamlMap } from './maps.ts';
import type { Reading } from './reading.ts';
import { folderOf } from './single-settings.ts';
import { shown } from './text-file.ts';

/** Not opened here: it may come later than we do, and each login reads it anew. */
function loginFile(path: string, reading: Reading): LoginFile {
  const folder = folderOf(reading);
  return { path: resolve(folder, path), shown: shown(path, folder) };
}

/** `{file: PATH}` of an entry; undefined where there is none, or a fault. What stands there may be a secret. */
export function loginFileAt(
  map: YamlMap,
  path: string,
  key: string,
  reading: Reading,
): LoginFile | undefined {
  const raw = entry(map, key);
  if (isAbsent(raw)) return undefined;
  const file = isMap(raw) && Object.keys(raw).length === 1 ? entry(raw, 'file') : undefined;
  if (typeof file === 'string' && file !== '') return loginFile(file, reading);
  reading.report(below(path, key), 'must be {file: PATH}; it is read anew at each login');
  return undefined;
}

/** `tls` of an entry: a certificate and its key, both. */
export function readClientCertificate(
  map: YamlMap,
  path: string,
  reading: Reading,
): ClientCertificate | undefined {
  if (isAbsent(entry(map, 'tls'))) return undefined;
  const at = below(path, 'tls');
  const tls = readMap(entry(map, 'tls'), at, reading.report);
  reportUnknownKeys(tls, at, Object.keys(OAUTH2_TLS), reading.report);
  const [certFile, keyFile] = (['certFile', 'keyFile'] as const).map((key) => {
    const file = entry(tls, key);
    if (typeof file === 'string' && file !== '') return loginFile(file, reading);
    reading.report(below(at, key), isAbsent(file) ? 'is missing' : 'must be a path');
    return undefined;
  });
  return certFile && keyFile && { certFile, keyFile };
}
