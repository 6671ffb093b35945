import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { optionsOf } from '../../src/cli/arguments.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { commandHelp, overview } from '../../src/cli/help.ts';
import { KNOWN_VARIABLES } from '../../src/config/declaration/settings.ts';
import { run } from '../support/cli.ts';

const commands = await Promise.all(
  Object.entries(COMMANDS).map(async ([name, load]) => ({ name, command: await load() })),
);

t.test(
  'each --help has an example, known variables with their meaning, and no link into a checkout',
  async (t) => {
    for (const { name, command } of commands) {
      const help = commandHelp(name, command);
      t.match(help, /\nexamples:\n {2}\S/, name);
      t.notMatch(help, /docs\/|\.md\b/, name);
      for (const variable of command.variables) {
        t.ok(KNOWN_VARIABLES.includes(variable), variable);
        t.match(help, new RegExp(`^ {2}${variable} {3,}\\S`, 'm'));
      }
      // What takes all settings says which of them matter.
      if (command.settings === true) t.not(command.variables.length, 0, name);
    }
    t.notMatch(await overview(), /docs\/|\.md\b/);
  },
);

t.test('the example lines are lines that the command takes', async (t) => {
  for (const { name, command } of commands) {
    for (const example of command.examples) {
      const [, ...words] = /\bbearerd( [^|&>)"]*)/.exec(example)?.[1]?.split(' -- ')[0]?.split(' ') ?? [''];
      for (const flag of words.filter((word) => word.startsWith('--') && word !== '--')) {
        t.ok(Object.hasOwn(optionsOf(command), flag.slice(2)), `${name} ${flag}`);
      }
    }
  }
});

t.test('start --help lists each setting with its flag, variable and default', async (t) => {
  t.testdir({});
  const { stdout } = await run(t, ['start', '--help']);
  t.match(stdout, /--listen VALUE {3}BEARERD_LISTEN, localhost:9180 unless given\n {6}list of/);
  t.match(stdout, /--client-secret-file FILE {3}BEARERD_CLIENT_SECRET_FILE\n/);
  t.match(stdout, /--browser-cookies\[=true\|false\]/);
  t.notMatch(stdout, /--client-secret /);
});

t.test(
  'a signal while it is being loaded ends every command that serves with 0: main.ts knows the others',
  async (t) => {
    const [, names = ''] =
      /const others = \/\^\(\?:([a-z|]+)\)\$\//.exec(
        readFileSync(new URL('../../src/main.ts', import.meta.url), 'utf8'),
      ) ?? [];
    const serving = ['start', 'demo', 'mock'];
    const others = commands.map(({ name }) => name).filter((name) => !serving.includes(name));
    t.same(names.split('|').sort(), [...others, 'help', 'version'].sort());
  },
);

t.test('completion prints a script for each shell that knows every command and flag', async (t) => {
  t.testdir({});
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(t, ['completion', shell]);
    t.equal(code, 0);
    for (const { name } of commands) t.match(stdout, new RegExp(`\\b${name}\\b`));
    t.match(stdout, shell === 'fish' ? / -l client-secret-file -r -F/ : /--client-secret-file/);
  }
  t.match(await run(t, ['completion', 'tcsh']), { code: 64, stderr: /bash, zsh, fish/ });
});

t.test("bash completes commands, a command's flags, and nothing after --", async (t) => {
  t.testdir({});
  const { stdout: script } = await run(t, ['completion', 'bash']);
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
        timeout: 20_000,
      },
    ).trim();
  t.equal(complete('che'), 'check');
  t.equal(complete('check', '--onl'), '--online');
  t.equal(complete('--base-u'), '--base-url');
  t.equal(complete('completion', 'z'), 'zsh');
  t.equal(complete('exec', '--', '--'), '');
});
