import { basename } from 'node:path';
import { ConfigFileError } from '../base/config-error.ts';
import type { Config } from './config.ts';
import { SETTINGS } from './declaration/settings.ts';
import { isAbsent, valueAt } from './reading/maps.ts';
import type { Reading } from './reading/reading.ts';
import { asksForKey, type Callers } from './sections/callers.ts';

/**
 * A file that has vanished or is empty may be a mistake: an incomplete copy, an emptied ConfigMap, a full disk. What the
 * file denies would be forwarded.
 *
 * @throws {ConfigFileError} if a file is in force and its replacement is missing or empty
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

/** Whether a value in force comes from the file. */
function isFilled({ file = '', provenance }: Config): boolean {
  return Object.values(provenance).some((source) => source.startsWith(`${basename(file)}:`));
}

/**
 * Reports a missing part, since a file that is cut off in the middle is often valid. Without its routes everything would be
 * forwarded, and without its keys everyone might call.
 */
export function checkLost(inForce: Config, callers: Callers, reading: Reading): void {
  const { report, file, environment } = reading;
  if (file.broken) return;
  const hasRoutes =
    SETTINGS.routes.variable in environment.variables || !isAbsent(valueAt(file.content, 'routes'));
  if (!hasRoutes && hadRoutes(inForce)) {
    // The example must not take a route of a single host.
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
