import { relative } from 'node:path';
import { formsOf } from '../declaration/setting.ts';
import { SECRET_SETTINGS, SETTINGS } from '../declaration/settings.ts';
import type { Reading } from '../reading/reading.ts';

/** What decides where a secret goes, or which server passes for the upstream. */
const DESTINATIONS = [
  SETTINGS.configFile,
  SETTINGS.upstream,
  SETTINGS.upstreamAddress,
  SETTINGS.allowInsecureUpstream,
  SETTINGS.sessionPath,
  SETTINGS.caFile,
].map(({ variable }) => variable);

/**
 * A `.env` may come with a checkout. It must not send the secrets of the environment, or of a user's own file, to a server of
 * its choice.
 */
export function checkDotEnv(reading: Reading): void {
  const owner = secretFromElsewhere(reading);
  if (owner === undefined) return;
  for (const variable of DESTINATIONS.filter(reading.environment.fromDotEnv)) {
    const problem = `stands in .env, which may not decide where ${owner} goes; give both in the same place`;
    reading.report(variable, problem);
  }
}

/** What to call a secret that is neither from `.env` nor from a file beside it; undefined where there is none. */
function secretFromElsewhere({ environment, variablesNamed, file, cwd }: Reading): string | undefined {
  const { variables, lookUp, fromDotEnv } = environment;
  const own = SECRET_SETTINGS.flatMap(formsOf);
  const variable =
    own.find((name) => name in variables && !fromDotEnv(name)) ??
    [...variablesNamed].find((name) => lookUp(name) !== undefined && !fromDotEnv(name));
  if (variable !== undefined) return `${variable} of the environment`;
  const elsewhere = file.path !== undefined && !isBelow(file.path, cwd) && 'credentials' in file.content;
  return elsewhere ? `a secret of ${file.path}` : undefined;
}

function isBelow(path: string, folder: string): boolean {
  return !relative(folder, path).startsWith('..');
}
