export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  /** With their two hyphens. */
  readonly flags: readonly string[];
  /** Arguments that are no flags. */
  readonly words: readonly string[];
}

type Script = (commands: readonly CompletedCommand[]) => string;

/** Flags after which a file's name stands. */
const FILES = '--config|--output|--*-file';

/** Without a command it is `start`. */
function first(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name);
  return [...names, ...(commands.find(({ name }) => name === 'start')?.flags ?? [])].join(' ');
}

const namesOf = (commands: readonly CompletedCommand[]) => commands.map(({ name }) => name).join('|');

const bash: Script = (commands) => `# bearerd's completion for bash
_bearerd() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= words= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in
      --) return ;;
      ${namesOf(commands)}) command=\${command:-$word} ;;
    esac
  done
  # bash splits --flag=VALUE at the sign.
  case $cur,$prev in
    =,*) prev=\${COMP_WORDS[COMP_CWORD-1]} cur= ;;
    *,=) prev=\${COMP_WORDS[COMP_CWORD-2]} ;;
  esac
  # Without words of ours bash completes a file by itself (-o default below): it knows blanks and folders.
  case $prev in
    ${FILES}) COMPREPLY=(); return ;;
  esac
  case $command in
    '') words='${first(commands)}' ;;
${commands.map(({ name, flags, words }) => `    ${name}) words='${[...words, ...flags].join(' ')}' ;;\n`).join('')}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -o bashdefault -F _bearerd bearerd
`;

const zsh: Script = (commands) => `#compdef bearerd
_bearerd() {
  local command= word
  for word in \${words[2,CURRENT-1]}; do
    case $word in
      (--) _default; return ;;
      (${namesOf(commands)}) command=\${command:-$word} ;;
    esac
  done
  case \${words[CURRENT-1]} in
    (${FILES}) _files; return ;;
  esac
  case \${words[CURRENT]} in
    (--config=*|--output=*|--*-file=*) compset -P '*='; _files; return ;;
  esac
  case $command in
    ('')
      local -a commands=(
${commands.map(({ name, summary }) => `        '${name}:${quotable(summary)}'\n`).join('')}      )
      _describe command commands
      compadd -- ${commands.find(({ name }) => name === 'start')?.flags.join(' ') ?? ''} ;;
${commands.map(({ name, flags, words }) => `    (${name}) compadd -- ${[...words, ...flags].join(' ')} ;;\n`).join('')}  esac
}
if [[ $funcstack[1] == _bearerd ]]; then _bearerd "$@"; else compdef _bearerd bearerd; fi
`;

const fish: Script = (commands) => {
  const lines = commands.flatMap(({ name, summary, flags, words }) => {
    const inside = `complete -c bearerd -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c bearerd -f -n __fish_use_subcommand -a ${name} -d '${quotable(summary)}'`,
      ...words.map((word) => `${inside} -f -a ${word}`),
      ...flags.map((flag) => `${inside} -l ${flag.slice(2)}${takesFile(flag) ? ' -r -F' : ''}`),
    ];
  });
  return `# bearerd's completion for fish\n${lines.join('\n')}\n`;
};

const takesFile = (flag: string) => /^--(?:config|output|.*-file)$/.test(flag);

/** Within single quotes of zsh and fish. */
function quotable(text: string): string {
  return text.replaceAll("'", '’').replaceAll(':', ' -').replaceAll('\\', '');
}

export const SHELLS: Readonly<Record<string, Script>> = { bash, zsh, fish };
