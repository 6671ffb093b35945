import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UsageError } from '../base/errors.ts';
import { FLAGS, SECRET_FLAGS } from '../config/declaration/flags.ts';
import { otherName } from '../config/declaration/other-names.ts';
import { nearest } from '../config/values/nearest.ts';
import { type Command, type OptionValues, usageOf } from './command.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

/** What every command takes. */
const COMMON = {
  config: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const;

const SHORT = Object.values(COMMON).flatMap((option) => ('short' in option ? [`-${option.short}`] : []));

/** For `parseArgs` each takes a value; `withBareValues` gives a bare one its `true`. */
const SETTING_OPTIONS: Options = Object.fromEntries(FLAGS.map(({ name }) => [name, { type: 'string' }]));
const BARE = new Set(FLAGS.filter(({ bare }) => bare).map(({ name }) => name));

/** What may stand before the command: `bearerd --config FILE check`. */
const ANYWHERE: Options = { ...COMMON, ...SETTING_OPTIONS };

const isText = (name: string): boolean =>
  Object.hasOwn(ANYWHERE, name) && ANYWHERE[name]?.type === 'string' && !BARE.has(name);

/** The first argument that is no option and no option's value; -1 if there is none before a `--`. */
export function commandIndex(argv: readonly string[]): number {
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!;
    if (argument === '--') return -1;
    if (argument.startsWith('--') && isText(argument.slice(2))) i++;
    else if (!argument.startsWith('-')) return i;
  }
  return -1;
}

/** The first flag that no command has: what follows may be its value, and not a command. */
export function unknownFlag(argv: readonly string[]): string | undefined {
  const flags = argv.filter((argument) => /^-[^=]/.test(argument)).map((flag) => flag.replace(/=.*/s, ''));
  const isKnown = (flag: string) =>
    flag.startsWith('--') ? Object.hasOwn(ANYWHERE, flag.slice(2)) : SHORT.includes(flag);
  return flags.find((flag) => !isKnown(flag));
}

export function optionsOf({ options, settings = [] }: Command): Options {
  const flags = Object.entries(SETTING_OPTIONS).filter(
    ([name]) => settings === true || settings.includes(name),
  );
  return { ...COMMON, ...Object.fromEntries(flags), ...options };
}

export function parseArguments(
  name: string,
  command: Command,
  args: readonly string[],
): { readonly values: OptionValues; readonly positionals: readonly string[] } {
  const options = optionsOf(command);
  try {
    const { values, positionals } = parseArgs({
      args: command.settings === undefined ? [...args] : withBareValues(args),
      options,
      allowPositionals: command.positionals[1] > 0,
      strict: true,
    });
    return { values: values as OptionValues, positionals };
  } catch (error) {
    const slip = command.slip?.(args);
    const problem = problemOf(error, options) + (slip === undefined ? '' : `; ${slip}`);
    throw new UsageError(`${problem}\nusage: ${usageOf(name, command)}`);
  }
}

/** `--browser-cookies` is `--browser-cookies=true`. */
function withBareValues(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.map((argument, i) => {
    const isBare = (end === -1 || i < end) && argument.startsWith('--') && BARE.has(argument.slice(2));
    return isBare ? `${argument}=true` : argument;
  });
}

/** In words of our own: Node's are long, and advise what is of no use here. */
function problemOf(error: unknown, options: Options): string {
  const { code, message = '' } = error as { code?: unknown; message?: string };
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    const option = /'(?:-\w, )?--([\w-]+)/.exec(message)?.[1] ?? '';
    return options[option]?.type === 'boolean'
      ? `--${option} takes no value`
      : `--${option} needs a value: --${option} VALUE, or --${option}=VALUE where that begins with a hyphen`;
  }
  const given = /'(--?[\w-]+)/.exec(message)?.[1];
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' && given !== undefined) {
    return flagProblem(given, Object.keys(options));
  }
  const positional = /'(.*)'/s.exec(message)?.[1];
  return positional === undefined ? 'these arguments are not understood' : unexpected(positional);
}

export function unexpected(argument: string): string {
  const shown = argument.length > MOST_SHOWN ? `${argument.slice(0, MOST_SHOWN)}…` : argument;
  return `unexpected argument "${shown}"`;
}

const MOST_SHOWN = 40;

/** What is wrong with a flag that isn't known here, and which one was most likely meant. */
export function flagProblem(given: string, known: readonly string[] = Object.keys(ANYWHERE)): string {
  const name = given.replace(/^-+/, '');
  if (SECRET_FLAGS.includes(name)) {
    return `${given} would show a secret to every user of this machine; use --${name}-file FILE`;
  }
  const other = otherName(name);
  if (other !== undefined && known.includes(other.flag)) return `unknown flag ${given}; use ${other.use}`;
  const near = nearest(name, known);
  return `unknown flag ${given}${near === undefined || near === name ? '' : `; did you mean --${near}?`}`;
}
