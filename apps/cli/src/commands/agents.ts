import type { Command } from 'commander';
import type { Schemas } from '#libs/client';
import { parseJson } from '#libs/protocol';
import { runEntry } from '../entry.js';
import type { MessageOptions } from '../agent-talk.js';
import { exampleText } from '../examples.js';
import { CommandError } from '../exit-code.js';
import { collectValue } from '../inputs.js';
import type { Session } from '../session.js';

type ListedRegistration = Schemas['RegisteredAgentView'];
type RegistrationPage = Schemas['RegisteredAgentListView'];

interface AddOptions {
  auth?: string;
  policy?: string;
}

const PATH = '/api/agents';
const ACTIONS = ['list', 'add', 'show', 'remove'] as const;

/** Adds the commands `send`, `chat`, `card`, `agent` and `agents`, for any A2A agent, local or remote. */
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
  addRegistrations(program, session);
}

/**
 * Returns the arguments of this process after the first occurrence of `word`, unchanged, to pass them to another
 * program.
 */
function afterWord(word: string): string[] {
  const argv = process.argv.slice(2);
  return argv.slice(argv.indexOf(word) + 1);
}

/**
 * Adds the command `agents`, which lists, adds, shows and removes registered agents: remote agents that this service
 * also serves, with durable Tasks.
 */
function addRegistrations(program: Command, session: Session): void {
  program
    .command('agents')
    .argument('[action]', ACTIONS.join(', '), 'list')
    .argument('[name]', 'name of the agent at the service')
    .argument('[url]', 'URL of the agent or of its card, for add')
    .description('list, add, show or remove agents elsewhere that the service makes durable')
    .option('--auth <credential>', 'name of the credential for calls of the agent')
    .option('--policy <json>', 'policy, such as {"forgotten":"resend"}')
    .addHelpText('after', exampleText('parley agents add translator http://127.0.0.1:9000'))
    .action((action: string, name: string | undefined, url: string | undefined, options: AddOptions) =>
      runAction(session, action, { name, url, options }),
    );
}

async function runAction(
  session: Session,
  action: string,
  { name, url, options }: { name: string | undefined; url: string | undefined; options: AddOptions },
): Promise<void> {
  switch (action) {
    case 'list':
      return showRegistrations(session);
    case 'add':
      return registerAgent(session, { name: required(name, 'name'), url: required(url, 'url') }, options);
    case 'show':
      return showAgent(session, required(name, 'name'));
    case 'remove':
      return removeAgent(session, required(name, 'name'));
    default:
      throw new CommandError(`"${action}" is no action of agents; say one of ${ACTIONS.join(', ')}`);
  }
}

async function showRegistrations({ client, terminal, signal }: Session): Promise<void> {
  const agents: ListedRegistration[] = [];
  let pageToken = '';
  do {
    const page = await client.call<RegistrationPage>(PATH, { query: { pageToken }, signal });
    agents.push(...page.agents);
    pageToken = page.nextPageToken;
  } while (pageToken !== '');
  const rows = (): string => agents.map((agent) => describeAgent(agent)).join('\n');
  terminal.writeResult(agents, () => terminal.stripControls(agents.length === 0 ? 'No agent is registered' : rows()));
}

async function registerAgent(
  { client, terminal, signal, url: service }: Session,
  named: { name: string; url: string },
  { auth, policy }: AddOptions,
): Promise<void> {
  const body = {
    ...named,
    ...(auth !== undefined && { auth }),
    ...(policy !== undefined && { policy: readPolicy(policy) }),
  };
  const added = await client.call<ListedRegistration>(PATH, { method: 'POST', body, signal });
  terminal.writeResult(added, () => terminal.stripControls(`Registered ${added.name} at ${service}${added.path}`));
}

async function showAgent({ client, terminal, signal }: Session, name: string): Promise<void> {
  const agent = await client.call<ListedRegistration>(pathOf(name), { signal });
  terminal.writeResult(agent, () => terminal.stripControls(`${describeAgent(agent)}\n${JSON.stringify(agent.policy)}`));
}

async function removeAgent({ client, terminal, signal }: Session, name: string): Promise<void> {
  await client.call(pathOf(name), { method: 'DELETE', signal });
  terminal.writeResult({ name }, () => terminal.stripControls(`Removed ${name}; its Tasks can still be read`));
}

function pathOf(name: string): `/${string}` {
  return `${PATH}/${encodeURIComponent(name)}`;
}

function describeAgent({ name, url, path }: ListedRegistration): string {
  return `${name}  ${path}  ${url}`;
}

/** Parses the policy of a registered agent from the option `--policy`. @throws CommandError if it is not JSON */
function readPolicy(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new CommandError('--policy is not JSON');
  }
}

/** Returns the value of an argument. @throws CommandError naming the argument (`what`) if it is missing */
function required(value: string | undefined, what: string): string {
  if (value !== undefined) return value;
  throw new CommandError(`the ${what} of the agent is missing`);
}
