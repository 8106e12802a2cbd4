import { Argument, type Command } from 'commander';
import type { Session } from '../session.js';

/** `completion`: what a shell reads to know the commands. */
export function addCompletion(program: Command, { terminal }: Session): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .description('print a completion script: source <(parley completion bash)')
    .action((shell: 'bash' | 'zsh' | 'fish') => terminal.line(SCRIPTS[shell](program.commands)));
}

const SCRIPTS: Record<'bash' | 'zsh' | 'fish', (commands: readonly Command[]) => string> = { bash, zsh, fish };

function bash(commands: readonly Command[]): string {
  const cases = commands.map((it) => `    ${it.name()}) words="${options(it).join(' ')}" ;;`);
  return `_parley() {
  local words="${commands.map((it) => it.name()).join(' ')}"
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="${commands.map((it) => it.name()).join(' ')}"
  COMPREPLY=($(compgen -o default -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _parley parley`;
}

function zsh(commands: readonly Command[]): string {
  const named = commands.map((it) => `    '${it.name()}:${quoted(it.description())}'`);
  const cases = commands.map(
    (it) =>
      `    ${it.name()}) _values option ${options(it)
        .map((word) => `'${word}'`)
        .join(' ')} ;;`,
  );
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
}
compdef _parley parley`;
}

function fish(commands: readonly Command[]): string {
  const first = commands.map(
    (it) => `complete -c parley -n __fish_use_subcommand -f -a ${it.name()} -d '${quoted(it.description())}'`,
  );
  const rest = commands.flatMap((it) =>
    it.options.map(
      ({ long, description }) =>
        `complete -c parley -n '__fish_seen_subcommand_from ${it.name()}' -l ${(long ?? '').slice(2)} -d '${quoted(description)}'`,
    ),
  );
  return [...first, ...rest].join('\n');
}

function options(command: Command): string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), '--url', '--json', '--help'];
}

function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll(':', '\\:').replaceAll('`', '');
}
