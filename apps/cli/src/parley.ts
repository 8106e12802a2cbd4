import { Command, CommanderError } from 'commander';
import { addAgentCommands } from './commands/agents.js';
import { addCompletion } from './commands/completion.js';
import { addFileCommands, addGenerate } from './commands/files.js';
import { addInit } from './commands/init.js';
import { addObjectCommands } from './commands/objects.js';
import { addOverview } from './commands/overview.js';
import { addRevisionCommands } from './commands/revisions.js';
import { addRunCommands } from './commands/runs.js';
import { addBackupCommands, addDoctor, addServiceCommands } from './commands/service.js';
import { addTypes } from './commands/types.js';
import { addUploadCommands } from './commands/uploads.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { reportFailure } from './failure.js';
import { Session } from './session.js';
import type { Terminal } from './terminal.js';

const ENVIRONMENT = `
Environment:
  PARLEY_URL       the service's URL, where --url does not name it; http://127.0.0.1:3000
  PARLEY_API_KEY   who calls, where the service asks for it

Exit codes: 0 done · 1 refused, out of reach, or the run failed · 2 something differs or is invalid · 130 Ctrl-C`;

/** Width of help texts in characters, if the output is no terminal. */
const WIDTH = 80;

/** Runs one command and returns its exit code. @param argv arguments after the program's name */
export async function runCommand(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const session = new Session(terminal);
  // Set before parsing, so that errors in the command line have the requested format as well.
  terminal.json = argv.includes('--json');
  const program = programOf(session);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return session.code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.differs;
    return reportFailure(error, session);
  } finally {
    session.endCommand();
  }
}

function programOf(session: Session): Command {
  const { terminal } = session;
  const program = new Command('parley')
    .description('Parley: durable workflows over A2A agents.')
    .version(session.version, '--version')
    .option('--url <url>', "the service's URL")
    .option('--json', 'JSON on standard output: one document, or one a line while something is followed')
    .addHelpText('after', ENVIRONMENT)
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .hook('preAction', (_, command) => session.beginCommand(command.optsWithGlobals()));
  addServiceCommands(program, session);
  addInit(program, session);
  addFileCommands(program, session);
  addGenerate(program, session);
  addTypes(program, session);
  addRunCommands(program, session);
  addOverview(program, session);
  addRevisionCommands(program, session);
  addUploadCommands(program, session);
  addAgentCommands(program, session);
  addObjectCommands(program, session);
  addDoctor(program, session);
  addBackupCommands(program, session);
  addCompletion(program, session);
  for (const command of [program, ...program.commands]) {
    if (!terminal.json) command.showHelpAfterError();
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.writeLine(text.trimEnd()),
      writeErr: (text) => writeMistake(terminal, text),
      getOutHelpWidth: () => terminal.columns ?? WIDTH,
    });
  }
  return program;
}

/** Reports an error in the command line, followed by the usage text of the command. */
function writeMistake(terminal: Terminal, text: string): void {
  const message = text.trim();
  const said = message.replace(/^error: /, '');
  if (message !== '')
    terminal.writeError({ error: { reason: 'USAGE', message: said } }, said === message ? said : `parley: ${said}`);
}
