#!/usr/bin/env node
import type { EndingCommand } from './cli/commands.ts';

// Checks Node before anything else is loaded. An older Node would run bearerd, but lose data. `engines` in package.json names
// the same versions.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 18) || major === 25 || (major === 26 && minor < 10)) {
  process.stderr.write(
    `bearerd: needs Node 24.18 or later of 24, or 26.10 or later; this is ${process.versions.node}\n`,
  );
  process.exit(1);
}

// As process 1 of a container, a process that listens for no signal gets none: while the rest is being loaded,
// SIGTERM would be lost, and the container killed in the end. A proxy that has taken no request yet is done at once.
// A command that ends by itself is recognised by its name anywhere in the arguments: telling a flag's value from a command
// needs the settings, which are not loaded yet.
const ENDING: Readonly<Record<EndingCommand | 'help' | 'version', true>> = {
  init: true,
  check: true,
  routes: true,
  render: true,
  token: true,
  exec: true,
  why: true,
  healthcheck: true,
  wait: true,
  schema: true,
  completion: true,
  help: true,
  version: true,
};
const serves = !process.argv.slice(2).some((argument) => Object.hasOwn(ENDING, argument));
for (const [signal, number] of [
  ['SIGTERM', 15],
  ['SIGINT', 2],
] as const) {
  process.on(signal, () => {
    // Once another listener is there, it decides.
    if (process.listenerCount(signal) === 1) process.exit(serves ? 0 : 128 + number);
  });
}

// On SIGUSR1, Node would open the inspector's port, where every local process could read all secrets.
process.on('SIGUSR1', () => {});
// Too early for a reload: what is being read is the newest.
if (serves) process.on('SIGHUP', () => {});

const code = await quick();
if (code !== undefined) process.exitCode = code;
else {
  const { run } = await import('./cli/run.ts');
  const { finish } = await import('./node/exit.ts');
  finish(await run(process.argv.slice(2)));
}

/** What orchestrators start every few seconds; undefined for all else. */
async function quick(): Promise<number | undefined> {
  const [command, ...args] = process.argv.slice(2);
  if (command !== 'healthcheck') return undefined;
  const { quickHealthcheck } = await import('./cli/quick-healthcheck.ts');
  return quickHealthcheck(args, process.env, process.cwd);
}
