import type { Command } from 'commander';
import { PACKAGE } from '../program-name.js';
import { EXPECTED_NAMES, NAMES_COMMAND } from './completion-names.js';

/** Words of `parley agent`, whose program parses its own arguments. */
const AGENT_WORDS = ['serve', '--script', '--llm', '--order', '--role', '--port', '--host', '--data-dir', '--name'];
/** Seconds that a shell keeps the names that the service returned. */
const KEPT_SECONDS = 5;

/** Returns the completion script for a shell. It completes `parley` and `npx --no parley-a2a`. */
export function completionScript(shell: 'bash' | 'zsh' | 'fish', commands: readonly Command[]): string {
  return SCRIPTS[shell](commands.filter((it) => it.name() !== NAMES_COMMAND));
}

const SCRIPTS: Record<'bash' | 'zsh' | 'fish', (commands: readonly Command[]) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/**
 * Returns lines of a shell's `case` that set, for each command, the static words, the options with a value, and the
 * kinds of names that the service knows.
 */
function commandCases(commands: readonly Command[]): string {
  const lines = commands.map((it) => {
    const { first = '-', second = '-', options = {} } = EXPECTED_NAMES[it.name()] ?? {};
    const named = Object.entries(options).map(([option, kind]) => `${option}=${kind}`);
    const valued = it.options.filter(({ required }) => required).flatMap(({ short, long }) => [short, long]);
    const values = [...valued.filter((name) => name !== undefined), '--url'];
    const words = listWords(it).join(' ');
    return `    ${it.name()}) words="${words}"; kinds="${first} ${second}"; named=" ${named.join(' ')} "; values=" ${values.join(' ')} " ;;`;
  });
  return lines.join('\n');
}

/**
 * Returns two shell functions for bash and zsh:
 * - `_parley_find` gets the words before the one to complete. It sets `words` to the words that may follow, and `kind`
 *   to the kind of names of the service that may follow.
 * - `_parley_list` runs the command in its arguments and sets `_parley_names` to the output, which it caches for
 *   KEPT_SECONDS.
 */
function sharedFunctions(commands: readonly Command[]): string {
  return `_parley_find() {
  local command="$1" kinds="- -" named="" values="" word="" before="" count=0
  kind="" words="" run=""
  case "$command" in
${commandCases(commands)}
    "") words="${commands.map((it) => it.name()).join(' ')} --help --version"; return ;;
  esac
  shift
  for word in "$@"; do
    case "$word" in
      -*) ;;
      *) case "$values" in *" $before "*) ;; *) count=$((count + 1)); [ "$count" -eq 1 ] && run="$word" ;; esac ;;
    esac
    before="$word"
  done
  case "$named" in
    *" $before="*) kind="\${named#* $before=}"; kind="\${kind%% *}"; words="" ;;
    *)
      case "$values" in *" $before "*) [ -n "$before" ] && { words=""; return; } ;; esac
      [ "$count" -eq 0 ] && kind="\${kinds% *}"
      [ "$count" -gt 0 ] && kind="\${kinds#* }"
      [ "$count" -gt 1 ] && [ "$command" != export ] && kind="-"
      ;;
  esac
  [ "$kind" = "-" ] && kind=""
  [ "$kind" = nodes ] || run=""
  return 0
}
_parley_list() {
  local key="$*"
  if [ "$_parley_key" != "$key" ] || [ $((SECONDS - _parley_at)) -ge ${KEPT_SECONDS} ]; then
    _parley_names="$("$@" 2> /dev/null)"
    _parley_key="$key"
    _parley_at=$SECONDS
  fi
}`;
}

/** Returns the completion script for bash. It offers files if no word fits. */
function bashScript(commands: readonly Command[]): string {
  return `${sharedFunctions(commands)}
_parley_complete() {
  local at="$1" kind="" words="" run="" url=()
  shift
  _parley_find "\${COMP_WORDS[@]:at:COMP_CWORD-at}"
  if [ -n "$kind" ]; then
    [[ "$COMP_LINE" =~ --url[=\\ ]+([^\\ ]+) ]] && url=(--url "\${BASH_REMATCH[1]}")
    _parley_list "$@" ${NAMES_COMMAND} "$kind" $run "\${url[@]}"
    words="$_parley_names $words"
  fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ "\${#COMPREPLY[@]}" -eq 0 ] && compopt -o default 2> /dev/null
  return 0
}
_parley() { _parley_complete 1 parley; }
_parley_npx() {
  local at
  for ((at = 1; at < COMP_CWORD; at++)); do
    [ "\${COMP_WORDS[at]}" = ${PACKAGE} ] && { _parley_complete $((at + 1)) npx --no ${PACKAGE}; return; }
  done
  compopt -o default 2> /dev/null
  COMPREPLY=($(compgen -W "${PACKAGE}" -- "\${COMP_WORDS[COMP_CWORD]}"))
  return 0
}
complete -F _parley parley
complete -p npx > /dev/null 2>&1 || complete -F _parley_npx npx`;
}

function zshScript(commands: readonly Command[]): string {
  const named = commands.map((it) => `    '${it.name()}:${quoteForShell(it.description()).replaceAll(':', '\\:')}'`);
  return `#compdef parley
${sharedFunctions(commands)}
_parley_complete() {
  local at="$1" kind="" words_found="" run="" place
  local -a commands given url
  shift
  commands=(
${named.join('\n')}
  )
  if (( CURRENT == at )); then _describe command commands; return; fi
  given=("\${(@)words[at,CURRENT-1]}")
  place=\${words[(I)--url]}
  (( place )) && url=(--url "\${words[place+1]}")
  words_found="$(_parley_find "\${given[@]}"; print -r -- "$kind|$run|$words")"
  kind="\${words_found%%|*}"
  words_found="\${words_found#*|}"
  run="\${words_found%%|*}"
  words_found="\${words_found#*|}"
  if [ -n "$kind" ]; then
    _parley_list "$@" ${NAMES_COMMAND} "$kind" \${run:+"$run"} "\${url[@]}"
    compadd -- \${(f)_parley_names}
  fi
  compadd -- \${=words_found}
  _files
}
_parley() { _parley_complete 2 parley }
_parley_npx() {
  local at=\${words[(I)${PACKAGE}]}
  if (( at > 0 && at < CURRENT )); then _parley_complete $((at + 1)) npx --no ${PACKAGE}; else _default; fi
}
compdef _parley parley
(( \${+_comps[npx]} )) || compdef _parley_npx npx`;
}

function fishScript(commands: readonly Command[]): string {
  const rules = commands.flatMap((it) => fishRules(it));
  return `function __parley_given
  set -l words (commandline -opc)
  set -l at (contains -i -- ${PACKAGE} $words; or echo 1)
  set -e words[1..$at]
  printf '%s\\n' $words
end
function __parley_here
  set -l words (commandline -opc)
  test "$words[1]" != npx; or contains -- ${PACKAGE} $words
end
function __parley_first
  __parley_here; and test (count (__parley_given)) -eq 0
end
function __parley_in
  __parley_here; and test "$(__parley_given | head -n 1)" = $argv[1]
end
function __parley_operands
  test (count (__parley_given | string match -v -- '-*')) $argv
end
function __parley_names
  set -l program parley
  test (commandline -opc)[1] = npx; and set program npx --no ${PACKAGE}
  set -l run
  test $argv[1] = nodes; and set run (__parley_given | string match -v -- '-*')[2]
  set -l key "$program $argv $run"
  if test "$__parley_key" != "$key"; or test (math (date +%s) - "$__parley_at") -ge ${KEPT_SECONDS}
    set -g __parley_kept ($program ${NAMES_COMMAND} $argv $run 2> /dev/null)
    set -g __parley_key $key
    set -g __parley_at (date +%s)
  end
  printf '%s\\n' $__parley_kept
end
for __parley_program in parley npx
${rules.map((rule) => `  complete -c $__parley_program ${rule}`).join('\n')}
end`;
}

/** Returns the arguments of fish's `complete` for a command. */
function fishRules(command: Command): string[] {
  const name = command.name();
  const { first, second, options = {} } = EXPECTED_NAMES[name] ?? {};
  const here = `-n '__parley_in ${name}'`;
  const atOperand = (count: string): string => `-n '__parley_in ${name}; and __parley_operands ${count}'`;
  const kindOf = (names: (string | undefined)[]): string | undefined =>
    names.flatMap((it) => (it === undefined ? [] : (options[it] ?? []))).at(0);
  return [
    `-n __parley_first -f -a ${name} -d '${quoteForShell(command.description())}'`,
    ...listWords(command)
      .filter((word) => !word.startsWith('--'))
      .map((word) => `${here} -a ${word}`),
    ...(first === undefined ? [] : [`${atOperand('-eq 1')} -f -a '(__parley_names ${first})'`]),
    ...(second === undefined ? [] : [`${atOperand('-ge 2')} -f -a '(__parley_names ${second})'`]),
    ...command.options.map(({ short, long, description }) => {
      const kind = kindOf([short, long]);
      const letter = short === undefined ? '' : ` -s ${short.slice(1)}`;
      const values = kind === undefined ? '' : ` -x -a '(__parley_names ${kind})'`;
      return `${here}${letter} -l ${(long ?? '').slice(2)}${values} -d '${quoteForShell(description)}'`;
    }),
  ];
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
