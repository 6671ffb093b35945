import { formatFaults } from '../config/explain.ts';
import { nearest } from '../config/nearest.ts';
import { ConfigError, UsageError } from '../errors.ts';
import { VERSION } from '../version.ts';
import { commandIndex, flagProblem, parseArguments, unknownFlag } from './arguments.ts';
import { type Command, complain, print } from './command.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';

export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  start: async () => (await import('./start.ts')).start,
  demo: async () => (await import('./demo.ts')).demo,
  mock: async () => (await import('./mock.ts')).mock,
  check: async () => (await import('./check.ts')).check,
  routes: async () => (await import('./routes.ts')).routes,
  token: async () => (await import('./token.ts')).token,
  exec: async () => (await import('./exec.ts')).exec,
  healthcheck: async () => (await import('./healthcheck.ts')).healthcheck,
  wait: async () => (await import('./wait.ts')).wait,
  schema: async () => (await import('./schema.ts')).schema,
};

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
      complain(`the configuration is not valid:\n${formatFaults(error)}`);
      complain(length === 1 ? 'that is the only fault' : `these are all ${length} faults`);
    } else {
      complain(error instanceof Error ? error.message : String(error));
    }
    if (error instanceof UsageError) process.stderr.write('Try "bearerd --help".\n');
    return code ?? EXIT.failed;
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  // The options may stand before the command: `bearerd --config FILE check`.
  const at = commandIndex(argv);
  const name = at === -1 ? 'start' : argv[at]!;
  const rest = at === -1 ? argv : [...argv.slice(0, at), ...argv.slice(at + 1)];
  if (name === 'help' || name === 'version') {
    await print(name === 'help' ? await overview() : `${VERSION}\n`);
    return EXIT.done;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    const flag = unknownFlag(argv.slice(0, at));
    if (flag !== undefined) throw new UsageError(flagProblem(flag));
    const near = nearest(name, Object.keys(COMMANDS));
    throw new UsageError(`unknown command "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`);
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
    throw new UsageError(`usage: bearerd ${name} ${command.synopsis}`);
  }
  return command.run(values, positionals);
}

async function overview(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, load]) => `  ${name.padEnd(12)} ${(await load()).summary}`),
  );
  return `bearerd ${VERSION}: adds a fresh access token to the requests of programs that have none

usage: bearerd [COMMAND] [--config FILE]

${lines.join('\n')}

Without a command it is "start". Each command has its own --help.
The configuration is the environment (BEARERD_...) and a YAML file: docs/configuration.md.
`;
}

function commandHelp(name: string, command: Command): string {
  const common =
    '\n  --config FILE   the configuration file\n  --help          this\n  --version       the version';
  return `usage: bearerd ${name} ${command.synopsis}\n\n${command.summary}\n${command.help}${common}\n`;
}
