import { UsageError } from '../base/errors.ts';
import { optionsOf } from './arguments.ts';
import { type Command, print } from './command.ts';
import { type CompletedCommand, SHELLS } from './completion-scripts.ts';
import { EXIT } from './exit-codes.ts';

type Commands = Readonly<Record<string, () => Promise<Command>>>;

export const completionOf = (commands: Commands): Command => ({
  synopsis: 'bash|zsh|fish',
  summary: 'prints a completion script for a shell',
  help: '\nIt is made from the commands and flags of this version.\n',
  examples: [
    'source <(bearerd completion bash)',
    'bearerd completion zsh > "$HOME/.zfunc/_bearerd"',
    'bearerd completion fish > ~/.config/fish/completions/bearerd.fish',
  ],
  variables: [],
  options: {},
  positionals: [1, 1],
  async run(_values, [shell = '']) {
    const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
    if (script === undefined)
      throw new UsageError(`${shell}: must be one of ${Object.keys(SHELLS).join(', ')}`);
    await print(script(await completed(commands)));
    return EXIT.done;
  },
});

async function completed(commands: Commands): Promise<readonly CompletedCommand[]> {
  return Promise.all(
    Object.entries(commands).map(async ([name, load]) => {
      const command = await load();
      const flags = Object.keys(optionsOf(command)).map((flag) => `--${flag}`);
      return {
        name,
        summary: command.summary,
        flags,
        words: name === 'completion' ? Object.keys(SHELLS) : name === 'render' ? ['haproxy'] : [],
      };
    }),
  );
}
