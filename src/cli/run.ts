import { ConfigError, ConfigFileError } from '../base/config-error.ts';
import { UsageError } from '../base/errors.ts';
import { VERSION } from '../base/version.ts';
import { nearest } from '../config/values/nearest.ts';
import { commandIndex, flagProblem, parseArguments, unexpected, unknownFlag } from './arguments.ts';
import { complain, print, printToStderr, usageOf } from './command.ts';
import { COMMANDS } from './commands.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { commandHelp, overview } from './help.ts';

/** Runs the command line; resolves with the exit code and never rejects. */
export async function run(argv: readonly string[]): Promise<number> {
  // A reader that has gone (`bearerd schema | head -1`) is no fault of ours.
  process.stdout.on('error', () => {});
  try {
    return await dispatch(argv);
  } catch (error) {
    const code = exitCodeOf(error);
    if (error instanceof ConfigError) {
      const { length } = error.faults;
      complain(`the configuration is not valid:\n${error.message}`);
      complain(length === 1 ? 'that is the only fault' : `${length} faults in all`);
    } else if (error instanceof ConfigFileError) {
      complain(`the configuration file can't be read: ${error.message}`);
      complain(
        'give one that exists and is readable with --config or BEARERD_CONFIG, or begin one with "bearerd init"',
      );
    } else {
      complain(error instanceof Error ? error.message : String(error));
    }
    if (error instanceof UsageError) printToStderr('Try "bearerd --help".\n');
    return code ?? EXIT.failed;
  }
}

/** What users of other programs type. */
const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['run', 'serve', 'up', 'proxy'].map((name) => [name, 'use "bearerd start"'])),
  ...Object.fromEntries(['validate', 'test', 'config'].map((name) => [name, 'use "bearerd check"'])),
  login: 'use "bearerd token"',
  reload: 'send SIGHUP to the running process, or POST to /reload of its admin listener',
  stop: 'send SIGTERM to the running process',
  ...Object.fromEntries(
    ['status', 'health', 'ready'].map((name) => [
      name,
      'use "bearerd healthcheck", or GET /status of the admin listener',
    ]),
  ),
  metrics: 'use GET /metrics of the admin listener',
  renew: 'send POST to /renew of the admin listener',
};

function hintFor(name: string): string {
  if (/\.ya?ml$/i.test(name)) return '; a configuration file is given with --config';
  if (Object.hasOwn(OTHER_COMMANDS, name)) return `; ${OTHER_COMMANDS[name]}`;
  const near = nearest(name, Object.keys(COMMANDS));
  return near === undefined ? '' : `; did you mean "${near}"?`;
}

function commandNamed(name: string): (typeof COMMANDS)[string] | undefined {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

/** `bearerd help exec`, as other programs have it. */
async function helpOn(name = ''): Promise<string> {
  const load = commandNamed(name);
  return load === undefined ? overview() : commandHelp(name, await load());
}

async function dispatch(argv: readonly string[]): Promise<number> {
  // The options may stand before the command: `bearerd --config FILE check`.
  const at = commandIndex(argv);
  const name = at === -1 ? 'start' : argv[at]!;
  const rest = at === -1 ? argv : [...argv.slice(0, at), ...argv.slice(at + 1)];
  if (name === 'version') {
    await print(`${VERSION}\n`);
    return EXIT.done;
  }
  if (name === 'help') {
    await print(await helpOn(rest[0]));
    return EXIT.done;
  }
  const load = commandNamed(name);
  if (load === undefined) {
    const flag = unknownFlag(argv.slice(0, at));
    if (flag !== undefined) throw new UsageError(flagProblem(flag));
    throw new UsageError(`unknown command "${name}"${hintFor(name)}`);
  }
  const command = await load();
  const { values, positionals } = parseArguments(name, command, rest);
  if (values.version === true) {
    await print(`${VERSION}\n`);
    return EXIT.done;
  }
  if (values.help === true) {
    await print(at === -1 ? await overview() : commandHelp(name, command));
    return EXIT.done;
  }
  const [fewest, most] = command.positionals;
  if (positionals.length < fewest || positionals.length > most) {
    const surplus = positionals[most];
    const problem = surplus === undefined ? 'an argument is missing' : unexpected(surplus);
    throw new UsageError(`${problem}\nusage: ${usageOf(name, command)}`);
  }
  return command.run(values, positionals);
}
