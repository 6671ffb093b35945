import { resolve } from 'node:path';

import type { CredentialPlacement, ExecCredentialConfig } from '../config.ts';
import { EXEC_FIELDS } from '../declaration/file-fields.ts';
import { below, entry, isAbsent, readField, type YamlMap } from './maps.ts';
import type { Reading } from './reading.ts';
import { folderOf } from './single-settings.ts';

/** A program and its arguments; nothing where there is a fault in it, which has been reported. */
export function execFromFile(
  map: YamlMap,
  path: string,
  reading: Reading,
): Omit<ExecCredentialConfig, keyof CredentialPlacement> | undefined {
  const { report } = reading;
  const { command, timeout } = EXEC_FIELDS;
  const words = readField(map, path, 'command', command.kind, report);
  if (isAbsent(entry(map, 'command'))) report(below(path, 'command'), 'is missing');
  const timed = isAbsent(entry(map, 'timeout')) ? { timeout: timeout.default } : map;
  const timeoutMs = readField(timed, path, 'timeout', timeout.kind, report);
  const [program, ...args] = words ?? [];
  if (program === undefined || timeoutMs === undefined) return undefined;
  // A name alone is looked for in PATH; a path begins where all paths of the file begin.
  const found = program.includes('/') ? resolve(folderOf(reading), program) : program;
  return { kind: 'exec', command: [found, ...args], timeoutMs };
}
