import { Argument, type Command } from 'commander';
import { exampleText } from '../examples.js';
import type { Session } from '../session.js';
import { addNames } from './completion-names.js';
import { completionScript } from './completion-scripts.js';

/** Adds the command `completion`, which prints a script for shell completion. */
export function addCompletion(program: Command, session: Session): void {
  const { terminal } = session;
  addNames(program, session);
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
      const script = completionScript(shell, program.commands);
      terminal.writeResult({ shell, script }, () => script);
    });
}
