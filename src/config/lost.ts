import { basename } from 'node:path';
import { ConfigFileError } from '../base/config-error.ts';
import type { Config } from './config.ts';
import { SETTINGS } from './declaration/settings.ts';
import { isAbsent, valueAt } from './reading/maps.ts';
import type { Reading } from './reading/reading.ts';
import { asksForKey, type Callers } from './sections/callers.ts';

/**
 * A file that has vanished or is empty says nothing: a change on purpose can't be told from a cut copy, an emptied
 * ConfigMap or a full disk, and what the file denies would be forwarded.
 *
 * @throws {ConfigFileError} where a file is in force and nothing stands in its place
 */
export function checkFileIsLeft(inForce: Config, { file, environment }: Reading): void {
  if (inForce.dotEnv === 'read' && environment.dotEnv === 'none') {
    throw new ConfigFileError('.env', `is empty or does not exist any more; ${STAYS}`);
  }
  if (inForce.file === undefined || !isFilled(inForce)) return;
  if (file.path === undefined) throw new ConfigFileError(inForce.file, `does not exist any more; ${STAYS}`);
  if (!file.broken && Object.keys(file.content).length === 0) {
    throw new ConfigFileError(file.path, `is empty; ${STAYS}`);
  }
}

const STAYS = 'what was read from it before stays in force. To run without it, restart bearerd';

/** Something that is in force comes from the file. */
function isFilled({ file = '', provenance }: Config): boolean {
  return Object.values(provenance).some((source) => source.startsWith(`${basename(file)}:`));
}

/**
 * The same where a part is missing: a file that is cut off in the middle is often valid. Without its routes everything
 * would be forwarded, and without its keys everyone might call. Faults, unless nothing was in force.
 */
export function checkLost(inForce: Config, callers: Callers, reading: Reading): void {
  const { report, file, environment } = reading;
  if (file.broken) return;
  const hasRoutes =
    SETTINGS.routes.variable in environment.variables || !isAbsent(valueAt(file.content, 'routes'));
  if (!hasRoutes && hadRoutes(inForce)) {
    // What one host has is not for all.
    const ofAll = inForce.routes.filter(({ host }) => host === undefined);
    const { credential = 'deny' } = ofAll.find(({ prefix }) => prefix === '/') ?? ofAll[0] ?? {};
    const all = credential === 'deny' ? 'NAME' : credential;
    report(
      'routes',
      `are missing, and are in force; to forward everything, write { prefix: /, credential: ${all} }, or restart bearerd`,
    );
  }
  const hadCallers = inForce.callerKey !== undefined || inForce.callers.length > 0;
  if (!asksForKey(callers) && hadCallers) {
    report('callerKey', 'is missing, and callers need one now; to let everyone call, restart bearerd');
  }
}

function hadRoutes({ provenance }: Config): boolean {
  return Object.entries(provenance).some(([key, source]) => /^routes\b/.test(key) && source !== 'default');
}
