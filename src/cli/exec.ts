import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import { formsOf } from '../config/declaration/setting.ts';
import { SETTINGS } from '../config/declaration/settings.ts';
import { isRemotelyReachable } from '../config/values/addresses.ts';
import { exit } from '../node/exit.ts';
import { childEnvironment } from './child-environment.ts';
import { childVariables, filledIn } from './child-variables.ts';
import { type Command, complain } from './command.ts';
import { configurationSource } from './configuration.ts';
import { GroupWitness } from './group-witness.ts';
import { open } from './open.ts';
import { leaveReapingToShell } from './process-one.ts';
import { ONE_EVENT_MS } from './signals.ts';
import { SERVICE_VARIABLES } from './systemd.ts';

/** The exit codes of a shell for a command that it can't find, or may not run. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** A second one of these tells a command to stop at once. */
const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'];
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const;

/** Shown in hexadecimal digits, which may stand in a URL, in a header and in an argument. */
const KEY_BYTES = 32;

/** Most use `exec` to keep the credential from the command. The level of a file is for a service, whose log is its output. */
const OWN = { defaults: { BEARERD_SCRUB: 'true' }, unlessSet: { BEARERD_LOG_LEVEL: 'warn' } };

export const exec: Command = {
  synopsis: '[--env NAME[=TEMPLATE]]... [--key-env NAME]... [--listen ADDRESS] [--config FILE] -- CMD ARG...',
  summary: 'runs a command with a proxy of its own, and exits with the command’s code',
  help: `
  --env NAME            the variable that tells the command the proxy's URL; BEARERD_URL unless given
  --env NAME=TEMPLATE   a variable with {url}, {key}, {host} and {port} filled in, as in 'API_BASE={url}/v1'
  --key-env NAME        a variable with a random key of this run, which every caller then has to send
  --listen ADDRESS      where the proxy listens, for a command that has an address built in; a free port of 127.0.0.1
                        unless given (BEARERD_LISTEN and the file are for "bearerd start")

The variables are the command's own: in single quotes ('$BEARERD_URL') your shell leaves them to it.

--env and --key-env may be given again and again. {key} asks for a key, too. The command sends it where it would send an
API key.

The command's environment holds none of the secret variables, and its NO_PROXY names the proxy's host. The log is on
stderr, at the level "warn" unless BEARERD_LOG_LEVEL says otherwise.
`,
  examples: [
    'bearerd exec -- sh -c \'curl -s "$BEARERD_URL/companies/example.com"\'',
    'bearerd exec --env API_URL --config bearerd.yaml -- npm test',
    "bearerd exec --key-env OPENAI_API_KEY --env 'OPENAI_BASE_URL={url}/v1' -- my-agent",
  ],
  variables: ['BEARERD_CONFIG', 'BEARERD_BASE_URL', 'BEARERD_LOG_LEVEL'],
  options: { env: { type: 'string', multiple: true }, 'key-env': { type: 'string', multiple: true } },
  positionals: [1, Number.POSITIVE_INFINITY],
  settings: true,
  // `bearerd exec curl -s URL`: the flag is another program's.
  slip: (args) =>
    args.includes('--') || args[0]?.startsWith('-') ? undefined : 'the flags of a command stand behind --',
  async run(values, [command, ...args]) {
    leaveReapingToShell(); // The command may leave processes behind.
    const variables = childVariables(values);
    const key = variables.hasKey ? randomBytes(KEY_BYTES).toString('hex') : undefined;
    const source = configurationSource({ ...values, 'caller-key-file': undefined }, execEnvironment(), OWN);
    // systemd means the process that it started, and none of its children.
    for (const name of SERVICE_VARIABLES) delete process.env[name];
    const adapt = (loaded: Config) => forOneCommand(loaded, key === undefined ? undefined : new Secret(key));
    const { gateway, config, end } = await open({ source, fd: 2, adapt });
    let code: number;
    let sent = true;
    try {
      const told = filledIn(variables, { url: gateway.urls[0]!, key });
      code = await runChild(command!, args, childEnvironment(process.env, config(), told));
    } finally {
      await gateway.destroy();
      sent = await end();
    }
    if (!sent) exit(code);
    return code;
  },
};

/** Ports of its own, and no caller key but one of this run. */
function execEnvironment(): Record<string, string | undefined> {
  const rest = { ...process.env };
  for (const name of formsOf(SETTINGS.callerKey)) delete rest[name];
  return {
    ...rest,
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
    BEARERD_PROBES_LISTEN: 'off',
  };
}

/**
 * The command knows only the key of its own run, so that every caller must send that one. Without such a key, the command
 * alone knows the port, unless a flag opens it to other machines. Sinks are left to the proxy that runs with the same
 * file: this one would empty them when its command ends.
 */
function forOneCommand(config: Config, key: Secret | undefined): Config {
  const alone: Config = { ...config, sinks: [] };
  const { callerKey: _, ...rest } = alone;
  if (key !== undefined) return { ...rest, callerKey: key, callers: [] };
  return config.listen.some(isRemotelyReachable) ? alone : { ...rest, callers: [] };
}

/** Runs it on our terminal, passes signals on, and gives its exit code: 128 and the signal's number if one ended it. */
function runChild(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve) => {
    // The listeners come first: a signal before them would end bearerd, and leave the command running.
    const early = new Set<NodeJS.Signals>();
    let pass = (signal: NodeJS.Signals): unknown => early.add(signal);
    for (const signal of SIGNALS) process.on(signal, () => pass(signal));
    const witness = new GroupWitness();
    const child: ChildProcess = spawn(command, args, { env, stdio: 'inherit' });
    for (const signal of early) child.kill(signal);
    pass = passedOn(child, witness);
    const end = (code: number) => {
      witness.end();
      resolve(code);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT';
      complain(
        isMissing
          ? `${command}: no such command; check its name and PATH`
          : `${command}: can't be run (${error.code}); check that it is an executable file`,
      );
      end(isMissing ? NOT_FOUND : NOT_EXECUTABLE);
    });
    child.on('exit', (code, signal) => {
      end(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

/** Passes each signal on once: not one that the whole group got, nor one that our parent repeats. */
function passedOn(child: ChildProcess, witness: GroupWitness): (signal: NodeJS.Signals) => Promise<void> {
  const lastMs = new Map<NodeJS.Signals, number>();
  return async (signal) => {
    const now = performance.now();
    const isRepeat = now - (lastMs.get(signal) ?? Number.NEGATIVE_INFINITY) < ONE_EVENT_MS;
    if (ENDING.includes(signal) && isRepeat) return;
    lastMs.set(signal, now);
    if (!(await witness.saw(signal))) child.kill(signal);
  };
}
