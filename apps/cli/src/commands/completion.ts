import { Argument, type Command } from 'commander';
import { exampleText } from '../examples.js';
import type { Session } from '../session.js';

/** Adds the command `completion`, which prints a script for shell completion. */
export function addCompletion(program: Command, { terminal }: Session): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .description('print a completion script')
    .addHelpText(
      'after',
      exampleText(
        'source <(parley completion bash)      # in ~/.bashrc; alike for zsh',
        'parley completion fish > ~/.config/fish/completions/parley.fish',
      ),
    )
    .action((shell: 'bash' | 'zsh' | 'fish') => {
      const script = SCRIPTS[shell](program.commands);
      terminal.writeResult({ shell, script }, () => script);
    });
}

const SCRIPTS: Record<'bash' | 'zsh' | 'fish', (commands: readonly Command[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Words of `parley agent`, whose program parses its own arguments. */
const AGENT_WORDS = ['serve', '--script', '--llm', '--order', '--role', '--port', '--host', '--data-dir', '--name'];

/** Returns the completion script for bash. It offers files if no word fits. */
function bashScript(commands: readonly Command[]): string {
  const cases = commands.map((it) => `    ${it.name()}) words="${listWords(it).join(' ')}" ;;`);
  return `_parley() {
  local words=""
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="${commands.map((it) => it.name()).join(' ')} --help --version"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ "\${#COMPREPLY[@]}" -eq 0 ] && compopt -o default 2> /dev/null
}
complete -F _parley parley`;
}

function zshScript(commands: readonly Command[]): string {
  const named = commands.map((it) => `    '${it.name()}:${quoteForShell(it.description()).replaceAll(':', '\\:')}'`);
  const cases = commands.map((it) => `    ${it.name()}) compadd -- ${listWords(it).join(' ')} ;;`);
  return `#compdef parley
_parley() {
  local -a commands
  commands=(
${named.join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case "$words[2]" in
${cases.join('\n')}
  esac
  _files
}
compdef _parley parley`;
}

function fishScript(commands: readonly Command[]): string {
  const first = commands.map(
    (it) => `complete -c parley -n __fish_use_subcommand -f -a ${it.name()} -d '${quoteForShell(it.description())}'`,
  );
  const rest = commands.flatMap((it) => {
    const seen = `complete -c parley -n '__fish_seen_subcommand_from ${it.name()}'`;
    const plain = listWords(it).filter((word) => !word.startsWith('--'));
    return [
      ...plain.map((word) => `${seen} -a ${word}`),
      ...it.options.map(
        ({ long, description }) => `${seen} -l ${(long ?? '').slice(2)} -d '${quoteForShell(description)}'`,
      ),
    ];
  });
  return [...first, ...rest].join('\n');
}

/** Returns the words that may follow a command: its options and choices. */
function listWords(command: Command): string[] {
  if (command.name() === 'agent') return AGENT_WORDS;
  const known = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  return [...known, ...command.options.flatMap(({ long }) => long ?? []), '--url', '--json', '--help'];
}

function quoteForShell(text: string): string {
  return text.replaceAll("'", '’').replaceAll('`', '');
}
