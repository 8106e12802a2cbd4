import type { Command } from 'commander';
import { runEntry } from '../entry.js';
import type { SendOptions } from '../agent-talk.js';
import { examples } from '../examples.js';
import { several } from '../inputs.js';
import type { Session } from '../session.js';

/** Adds `send`, `chat`, `card` and `agent`: commands for any A2A agent, here or elsewhere. */
export function addAgentCommands(program: Command, session: Session): void {
  program
    .command('send')
    .argument('<agent>', "the agent's URL, or that of its card")
    .argument('[text]', 'what is said')
    .description('send a Message to an A2A agent, and show its answer')
    .option('--context <contextId>', 'of the conversation that it belongs to')
    .option('--task <taskId>', 'of the Task that it answers')
    .option('-i, --input <key=value>', 'a field of data, in place of a text; key:=json, key=@file', several, [])
    .addHelpText('after', examples('parley send http://127.0.0.1:3000/a2a/workflows/greeting/ "Ada"'))
    .action(async (url: string, text: string | undefined, options: SendOptions) =>
      (await import('../agent-talk.js')).send(session, url, text, options),
    );
  program
    .command('chat')
    .argument('<agent>', "the agent's URL, or that of its card")
    .description('talk with an A2A agent, line by line; /new begins again, /quit ends')
    .addHelpText('after', examples('parley chat http://127.0.0.1:4001/a2a/'))
    .action(async (url: string) => (await import('../agent-talk.js')).chat(session, url));
  program
    .command('card')
    .argument('<agent>', "the agent's URL, or that of its card")
    .description("show an agent's card, and what is wrong with it; 2 where something is")
    .addHelpText('after', examples('parley card https://agent.example/.well-known/agent-card.json'))
    .action(async (url: string) => (await import('../agent-talk.js')).card(session, url));
  program
    .command('agent')
    .description('serve a stand-alone A2A agent: `parley agent --help` says how')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[options...]')
    .action(() => runEntry('apps/agent/src/main', afterWord('agent'), session));
}

/** Returns the command line after a word, verbatim, for another program. */
function afterWord(word: string): string[] {
  const argv = process.argv.slice(2);
  return argv.slice(argv.indexOf(word) + 1);
}
