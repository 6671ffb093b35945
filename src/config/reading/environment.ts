import envSchema from 'env-schema';
import type { Environment } from '../../base/environment.ts';
import { FLAGS, type FlagTexts, flagName } from '../declaration/flags.ts';
import { otherName } from '../declaration/other-names.ts';
import { formsOf, withoutForm } from '../declaration/setting.ts';
import { KNOWN_VARIABLES, PLAIN_SETTINGS, SECRET_SETTINGS, URL_VARIABLE } from '../declaration/settings.ts';
import { didYouMean, nearest } from '../values/nearest.ts';
import { readDotEnv } from './dot-env.ts';
import type { Report } from './faults.ts';
import type { LoadInput, OwnVariables } from './reading.ts';

const PREFIX = 'BEARERD_';

type Variables = Readonly<Record<string, string>>;

/** For env-schema, which changes the object that it gets: a new one for each call. */
export function environmentSchema(): Record<string, unknown> {
  const text = (name: string, description: string) => [name, { type: 'string', description }];
  const properties = Object.fromEntries([
    ...PLAIN_SETTINGS.map(([, setting]) => text(setting.variable, setting.description)),
    ...SECRET_SETTINGS.flatMap((setting) => {
      const [itself, file, command] = formsOf(setting);
      const { description } = setting;
      return [
        text(itself, description),
        text(file, `file that holds it: ${description}`),
        text(command, `command that prints it: ${description}`),
      ];
    }),
    text(URL_VARIABLE, 'set by `bearerd exec` for its child; ignored'),
  ]);
  return { type: 'object', properties };
}

/** One object for all readings: env-schema always changes it in the same way, and Ajv keeps every schema it has seen. */
const SCHEMA = environmentSchema();
const SECRET_VARIABLES = new Set(SECRET_SETTINGS.flatMap(formsOf));

function namesIn(source: Environment): readonly string[] {
  return Object.keys(source).filter((name) => name.startsWith(PREFIX) && source[name] !== undefined);
}

/**
 * Compose files pass on every variable that they name, as an empty string if it has no value: that counts as not set.
 * An empty secret counts as set, so that it is refused: the secret got lost on the way.
 */
function isSet(name: string, value: string | undefined): boolean {
  return value !== undefined && (value.trim() !== '' || SECRET_VARIABLES.has(name));
}

/** The variables that are set. A secret's file from a flag takes the place of the secret itself, and of its command. */
function variablesIn(source: Environment, flags: FlagTexts): Variables {
  const replaced = SECRET_SETTINGS.map(formsOf)
    .filter(([, file]) => Object.hasOwn(flags, file))
    .flat();
  const own = namesIn(source).filter((name) => isSet(name, source[name]) && !replaced.includes(name));
  return Object.fromEntries(own.map((name) => [name, source[name] ?? '']));
}

export function readEnvironment(input: LoadInput, cwd: string, report: Report): OwnVariables {
  // A named file is the choice of the user; the working directory may be a checkout of another party.
  const named =
    input.content !== undefined ||
    input.configFile !== undefined ||
    (input.env.BEARERD_CONFIG ?? '').trim() !== '';
  const there = readDotEnv(cwd, input.readFile, named ? () => {} : report);
  const dotEnv = named ? {} : there.values;
  const ignored = namesIn(there.values).length > 0 ? 'ignored' : 'none';
  const { flags = {}, unlessSet = {} } = input;
  const sources: [Variables, Variables, Variables, Variables] = [
    unlessSet,
    variablesIn(dotEnv, flags),
    variablesIn(input.env, flags),
    flags,
  ];
  const fromDotEnv = (name: string) =>
    !Object.hasOwn(flags, name) && dotEnv[name] !== undefined && !isSet(name, input.env[name]);
  return {
    // expandEnv would rewrite a $ in a secret; env: true would bring in the whole environment.
    variables: envSchema<Variables>({ schema: SCHEMA, data: sources, env: false, expandEnv: false }),
    ownNames: [...namesIn(dotEnv), ...namesIn(input.env)],
    fromDotEnv,
    sourceOf: (name) =>
      Object.hasOwn(flags, name) ? `--${flagName(name)}` : fromDotEnv(name) ? '.env' : name,
    dotEnv: named ? ignored : Object.keys(dotEnv).length > 0 ? 'read' : 'none',
    broken: !named && there.broken,
    lookUp: (name) => input.env[name] ?? dotEnv[name],
  };
}

/**
 * Kubernetes gives every pod the variables of each Service in its namespace; those of a Service whose name begins
 * with "bearerd" begin with our prefix. Those are not typing errors.
 */
function isServiceLink(name: string, value: string | undefined): boolean {
  const link = /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
  return link.test(name) || (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value ?? ''));
}

/** Faults for BEARERD_ variables that are neither settings nor named by the file's `{env: NAME}`. */
export function reportUnknownVariables(
  environment: OwnVariables,
  named: ReadonlySet<string>,
  report: Report,
): void {
  const known = new Set([...KNOWN_VARIABLES, URL_VARIABLE, ...named]);
  for (const name of environment.ownNames) {
    if (known.has(name) || isServiceLink(name, environment.lookUp(name))) continue;
    report(name, `unknown variable${didYouMean(meantBy(name))}`);
  }
}

function meantBy(name: string): string | undefined {
  const itself = withoutForm(name); // Not every setting can come from a file, or a command.
  if (KNOWN_VARIABLES.includes(itself)) return itself;
  const other = otherName(name.slice(PREFIX.length).toLowerCase().replaceAll('_', '-'))?.flag;
  const variable = FLAGS.find((flag) => flag.name === other)?.variable;
  if (variable !== undefined) return withoutForm(variable);
  const meant = nearest(
    name.slice(PREFIX.length),
    KNOWN_VARIABLES.map((variable) => variable.slice(PREFIX.length)),
  );
  return meant && PREFIX + meant;
}

/** The first of these variables that has a value, else the first that is set; undefined if none is. */
export function inForceAmong(
  names: readonly string[],
  { variables }: Pick<OwnVariables, 'variables'>,
): string | undefined {
  const set = names.filter((name) => name in variables);
  // Compose files pass on variables without a value as empty strings.
  return set.find((name) => variables[name]?.trim() !== '') ?? set[0];
}
