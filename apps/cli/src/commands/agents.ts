import type { Command } from 'commander';
import { runEntry } from '../entry.js';
import type { MessageOptions } from '../agent-talk.js';
import { exampleText } from '../examples.js';
import { collectValue } from '../inputs.js';
import type { Session } from '../session.js';

/** Adds the commands `send`, `chat`, `card` and `agent`, for any A2A agent, local or remote. */
export function addAgentCommands(program: Command, session: Session): void {
  program
    .command('send')
    .argument('<agent>', 'URL of the agent or of its card')
    .argument('[text]', 'text of the Message')
    .description('send a Message to an A2A agent and show its answer')
    .option('--context <contextId>', 'context of the Message')
    .option('--task <taskId>', 'Task to answer')
    .option('-i, --input <key=value>', 'data field instead of a text; also key:=json, key=@file', collectValue, [])
    .option('--data <json>', 'the whole data as JSON')
    .addHelpText(
      'after',
      exampleText(
        'parley send http://127.0.0.1:3000/a2a/workflows/greeting/ "Ada"',
        'parley send http://127.0.0.1:3000/a2a/workflows/approval/ --task 019a… -i decision=yes',
      ),
    )
    .action(async (url: string, text: string | undefined, options: MessageOptions) =>
      (await import('../agent-talk.js')).sendToAgent(session, url, text, options),
    );
  program
    .command('chat')
    .argument('<agent>', 'URL of the agent or of its card')
    .description('talk with an A2A agent, line by line; /new starts a new conversation, /quit ends')
    .addHelpText('after', exampleText('parley chat http://127.0.0.1:4001/a2a/'))
    .action(async (url: string) => (await import('../agent-talk.js')).chatWithAgent(session, url));
  program
    .command('card')
    .argument('<agent>', 'URL of the agent or of its card')
    .description("show an agent's card and its problems; exit code 2 if it has any")
    .addHelpText('after', exampleText('parley card https://agent.example/.well-known/agent-card.json'))
    .action(async (url: string) => (await import('../agent-talk.js')).showCard(session, url));
  program
    .command('agent')
    .description('serve a stand-alone A2A agent; see `parley agent --help`')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[options...]')
    .action(() => runEntry('apps/agent/src/main', afterWord('agent'), session));
}

/** Returns the arguments after a word of the command line, verbatim, for another program. */
function afterWord(word: string): string[] {
  const argv = process.argv.slice(2);
  return argv.slice(argv.indexOf(word) + 1);
}
