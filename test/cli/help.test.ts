import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { optionsOf } from '../../src/cli/arguments.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { commandHelp, overview } from '../../src/cli/help.ts';
import { KNOWN_VARIABLES } from '../../src/config/declaration/settings.ts';
import { inOneProcess } from '../support/one-process.ts';

const call = inOneProcess(t);

const commands = await Promise.all(
  Object.entries(COMMANDS).map(async ([name, load]) => ({ name, command: await load() })),
);

t.test(
  'each --help has an example, the variables with their meaning, and no link into the repository',
  async (t) => {
    for (const { name, command } of commands) {
      const help = commandHelp(name, command);
      t.match(help, /\nexamples:\n {2}\S/, name);
      t.notMatch(help, /docs\/|\.md\b/, name);
      for (const variable of command.variables) {
        t.ok(KNOWN_VARIABLES.includes(variable), variable);
        t.match(help, new RegExp(`^ {2}${variable} {3,}\\S`, 'm'));
      }
      // A command that accepts all settings names those that matter to it.
      if (command.settings === true) t.not(command.variables.length, 0, name);
    }
    t.notMatch(await overview(), /docs\/|\.md\b/);
  },
);

t.test('the command accepts its own example lines', async (t) => {
  for (const { name, command } of commands) {
    for (const example of command.examples) {
      const [, ...words] = /\bbearerd( [^|&>)"]*)/.exec(example)?.[1]?.split(' -- ')[0]?.split(' ') ?? [''];
      for (const flag of words.filter((word) => word.startsWith('--') && word !== '--')) {
        t.ok(Object.hasOwn(optionsOf(command), flag.slice(2)), `${name} ${flag}`);
      }
    }
  }
});

t.test('help COMMAND is COMMAND --help', async (t) => {
  t.testdir({});
  const [one, other] = await Promise.all([call(t, ['help', 'exec']), call(t, ['exec', '--help'])]);
  t.equal(one.stdout, other.stdout);
  t.match(await call(t, ['help', 'nothing']), { code: 0, stdout: await overview() });
});

t.test('start --help lists each setting with its flag, variable and default', async (t) => {
  t.testdir({});
  const { stdout } = await call(t, ['start', '--help']);
  t.match(stdout, /--listen VALUE {3}BEARERD_LISTEN, localhost:9180 unless given\n {6}list of/);
  t.match(stdout, /--client-secret-file FILE {3}BEARERD_CLIENT_SECRET_FILE\n/);
  t.match(stdout, /--browser-cookies\[=true\|false\]/);
  t.notMatch(stdout, /--client-secret /);
});

t.test('completion prints a script with every command and flag for each shell', async (t) => {
  t.testdir({});
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await call(t, ['completion', shell]);
    t.equal(code, 0);
    for (const { name } of commands) t.match(stdout, new RegExp(`\\b${name}\\b`));
    t.match(stdout, shell === 'fish' ? / -l client-secret-file -r -F/ : /--client-secret-file/);
  }
  t.match(await call(t, ['completion', 'tcsh']), { code: 64, stderr: /bash, zsh, fish/ });
});

t.test('bash completes commands, the flags of a command, and nothing after --', async (t) => {
  t.testdir({});
  const { stdout: script } = await call(t, ['completion', 'bash']);
  const complete = (...words: string[]) =>
    execFileSync(
      'bash',
      [
        '-c',
        `${script}\nCOMP_WORDS=(bearerd "$@"); COMP_CWORD=$#; _bearerd; echo "\${COMPREPLY[*]}"`,
        '-',
        ...words,
      ],
      {
        encoding: 'utf8',
        timeout: 300_000,
      },
    ).trim();
  t.equal(complete('che'), 'check');
  t.equal(complete('check', '--onl'), '--online');
  t.equal(complete('--base-u'), '--base-url');
  t.equal(complete('completion', 'z'), 'zsh');
  t.equal(complete('exec', '--', '--'), '');
});

const noShell = spawnSync('python3', ['-c', 'import pty']).status !== 0 && 'python3 gives no terminal';
/** Types into a shell on a terminal of its own, and prints the shell's output. */
const TYPE = `
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0: os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])
said = b''
def until(mark):
    global said
    end = time.time() + 120
    while mark not in said and time.time() < end:
        if select.select([fd], [], [], 0.2)[0]: said += os.read(fd, 65536)
until(b'bash-')
os.write(fd, b'PS1="ready> "; . ./completion; bearerd() { printf "<%s>" "$@"; echo over; }\\n')
until(b'ready> ')
for line in sys.argv[1:]:
    said = b''
    os.write(fd, line.encode() + b'\\t')
    os.write(fd, b'\\n')
    until(b'over')
    sys.stdout.write(said.decode().replace('\\r', '') + '\\n')
# The folder is removed after this: the shell writes nothing there, and has ended by then.
os.write(fd, b'unset HISTFILE; exit\\n')
try:
    while os.read(fd, 65536): pass
except OSError: pass # Linux says so at the end of a terminal.
os.waitpid(pid, 0)
`;

t.test('bash completes folders, and files with blanks, after a flag', { skip: noShell }, async (t) => {
  const dir = t.testdir({ 'my file.yaml': '', folder: { 'inner.yaml': '' } });
  const { stdout: script } = await call(t, ['completion', 'bash'], {}, dir);
  writeFileSync(join(dir, 'completion'), script);
  const lines = ['bearerd check --config my', 'bearerd check --config fold', 'bearerd check --config=my'];
  const env = { PATH: process.env.PATH, HOME: dir, TERM: 'dumb' };
  const { stdout } = spawnSync('python3', ['-c', TYPE, ...lines], { cwd: dir, env, encoding: 'utf8' });
  t.match(stdout, /<check><--config><my file\.yaml>over/);
  t.match(stdout, /<check><--config><folder\/(?:inner\.yaml)?>over/);
  t.match(stdout, /<check><--config=my file\.yaml>over/);
});
