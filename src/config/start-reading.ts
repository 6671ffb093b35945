import { FILE_SETTINGS } from './declaration/settings.ts';
import { readConfigFile } from './reading/config-file.ts';
import { readEnvironment } from './reading/environment.ts';
import type { FaultList, Report } from './reading/faults.ts';
import type { LoadInput, Reading } from './reading/reading.ts';
import { SecretCommands } from './reading/secret-commands.ts';
import { workingDirectory } from './reading/text-file.ts';
import { fileSchema, wordsOf } from './sections/file-schema.ts';
import { placeInFile } from './shown/provenance.ts';

/** A program that hands in an object has set no variable: what it lacks is named by its key. */
const KEY_OF: ReadonlyMap<string, string> = new Map(
  FILE_SETTINGS.map(({ variable, key }) => [variable, key]),
);

const words = () => new Set(wordsOf(fileSchema()));

/** Opens the sources of a configuration: flags, environment, `.env` and file. */
export async function startReading(
  input: LoadInput,
  faults: FaultList,
  warnings: FaultList,
): Promise<Reading> {
  const { readFile, flags = {}, defaults = {}, cwd = workingDirectory() } = input;
  const environment = readEnvironment(input, cwd, faults.report);
  const file = await readConfigFile(input, { cwd, environment, words }, faults.report);
  const withPlace =
    (take: Report): Report =>
    (at, problem, where) => {
      const key = input.content === undefined || at in environment.variables ? at : (KEY_OF.get(at) ?? at);
      // A variable's fault is that of the flag which gave it; one of the file has its line.
      if (Object.hasOwn(flags, key)) take(environment.sourceOf(key), problem, where);
      else take(key, problem, { ...where, place: placeInFile(key, file) });
    };
  return {
    cwd,
    environment,
    file,
    report: withPlace(faults.report),
    warn: withPlace(warnings.report),
    defaults,
    readFile,
    filesRead: new Map(),
    variablesNamed: new Set(),
    commands: input.commands ?? new SecretCommands(),
  };
}
