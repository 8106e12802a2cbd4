import { Argument, type Command } from 'commander';
import { ParleyError, type Schemas } from '#libs/client';
import { isJsonObject, type JsonObject, tryParseJson } from '#libs/protocol';
import { exampleText } from '../examples.js';
import { CommandError, EXIT } from '../exit-code.js';
import { definitionOf, definitionText, savedWorkflows } from '../saved-workflows.js';
import type { Session } from '../session.js';
import { addScheduleOptions, SCHEDULE_ACTIONS, scheduleCells } from './schedules.js';
import { limitCells } from './limits.js';
import { addTriggerArguments, TRIGGER_ACTIONS, triggerCells } from './triggers.js';

/** Command that lists, shows and removes the objects of one kind. */
interface ObjectCommand {
  /** Word of the command line, such as `models`. */
  word: string;
  /** Path of the API that lists the objects. */
  path: `/${string}`;
  /** Name of one object in messages, with its article, such as `an MCP server`. */
  one: string;
  /** Plural of the object's kind, for messages: `models`. */
  many: string;
  /** Titles of the table, with the function that makes the row of an object. */
  titles: readonly string[];
  rowOf: (view: JsonObject) => string[];
  /** Lists all objects. */
  list: (session: Session) => Promise<JsonObject[]>;
  example: string;
  /** Further actions on one object, by their words. They get the further arguments of the command line. */
  more?: Readonly<Record<string, (session: Session, name: string, rest: readonly unknown[]) => Promise<void>>>;
  /** Adds the arguments and options of further actions. */
  addArguments?: (command: Command) => Command;
}

const ACTIONS = ['list', 'show', 'remove'] as const;

const COMMANDS: readonly ObjectCommand[] = [
  {
    word: 'workflows',
    path: '/api/workflows',
    one: 'a workflow',
    many: 'workflows',
    titles: ['WORKFLOW', 'REVISION', 'CHANGED', 'DESCRIPTION'],
    rowOf: ({ name, revision, updatedAt, description }) => [
      cellText(name),
      cellText(revision),
      timeText(updatedAt),
      cellText(description),
    ],
    list: async (session) => (await savedWorkflows(session)) as unknown as JsonObject[],
    example: 'parley workflows show greeting',
  },
  {
    word: 'models',
    path: '/api/models',
    one: 'a model',
    many: 'models',
    titles: ['NAME', 'PROVIDER', 'MODEL', 'CREDENTIAL', 'URL'],
    rowOf: ({ name, provider, model, auth, baseUrl }) => [name, provider, model, auth, baseUrl].map(cellText),
    list: (session) => listPages(session, '/api/models', 'models'),
    example: 'parley models test careful',
    more: { test: testModel },
  },
  {
    word: 'mcp',
    path: '/api/mcp-servers',
    one: 'an MCP server',
    many: 'MCP servers',
    titles: ['NAME', 'STATUS', 'FROM', 'CREDENTIAL', 'URL'],
    rowOf: ({ name, status, source, auth, url }) => [name, status ?? 'not called yet', source, auth, url].map(cellText),
    list: (session) => listPages(session, '/api/mcp-servers', 'servers'),
    example: `parley mcp call github search --data '{"query": "parley"}'`,
    more: { call: callTool },
    addArguments: (command) =>
      command
        .argument('[tool]', 'tool, for call')
        .option('-d, --data <json>', 'arguments of the tool as a JSON object, for call')
        .option('-y, --yes', 'confirm the call of a tool that may change something'),
  },
  {
    word: 'credentials',
    path: '/api/credentials',
    one: 'a credential',
    many: 'credentials',
    titles: ['NAME', 'TYPE', 'HOSTS', 'LAST USED', 'LAST ERROR'],
    rowOf: ({ name, kind, hosts, lastUsedAt, lastError }) => [
      cellText(name),
      cellText(kind),
      Array.isArray(hosts) ? hosts.map(cellText).join(' ') : 'any',
      lastUsedAt === undefined ? 'never' : timeText(lastUsedAt),
      isJsonObject(lastError) ? cellText(lastError['message']) : '',
    ],
    list: (session) => listPages(session, '/api/credentials', 'credentials'),
    example: 'parley credentials remove partner',
  },
  {
    word: 'schedules',
    path: '/api/schedules',
    one: 'a schedule',
    many: 'schedules',
    titles: ['NAME', 'WORKFLOW', 'TIMES', 'NEXT (UTC)'],
    rowOf: (view) => scheduleCells(view as unknown as Schemas['ScheduleView']),
    list: (session) => listPages(session, '/api/schedules', 'schedules'),
    example: 'parley schedules pause morning-report --note "until Monday"',
    more: SCHEDULE_ACTIONS,
    addArguments: addScheduleOptions,
  },
  {
    word: 'triggers',
    path: '/api/triggers',
    one: 'a trigger',
    many: 'triggers',
    titles: ['NAME', 'WORKFLOW', 'SOURCE', 'ADDRESS'],
    rowOf: (view) => triggerCells(view as unknown as Schemas['TriggerView']),
    list: (session) => listPages(session, '/api/triggers', 'triggers'),
    example: 'parley triggers deliveries on-push',
    more: TRIGGER_ACTIONS,
    addArguments: addTriggerArguments,
  },
  {
    word: 'limits',
    path: '/api/limits',
    one: 'a limit',
    many: 'limits',
    titles: ['NAME', 'TARGET', 'PER', 'AT THE SAME TIME', 'RATE'],
    rowOf: (view) => limitCells(view as unknown as Schemas['LimitView']),
    list: (session) => listPages(session, '/api/limits', 'limits'),
    example: 'parley limits show writer',
  },
];

/** Adds the commands that manage the objects of a service: `workflows`, `models`, `schedules`, `keys` and others. */
export function addObjectCommands(program: Command, session: Session): void {
  for (const command of COMMANDS) {
    const actions = [...ACTIONS, ...Object.keys(command.more ?? {})];
    const { addArguments = (it) => it } = command;
    const added = program
      .command(command.word)
      .addArgument(new Argument('[action]', `default: list`).choices(actions).default('list'))
      .argument('[name]', `name, for all actions but list`)
      .description(`${actions.slice(0, -1).join(', ')} or ${actions.at(-1)} ${command.many} of the service`)
      .addHelpText('after', exampleText(`parley ${command.word}`, command.example));
    addArguments(added).action((action: string, name: string | undefined, ...rest: unknown[]) =>
      action === 'list' ? showList(session, command) : changeOne(session, command, { action, name, rest }),
    );
  }
  addKeys(program, session);
}

async function showList(session: Session, { list, titles, rowOf, many }: ObjectCommand): Promise<void> {
  const { terminal } = session;
  const found = await list(session);
  terminal.writeResult(found, () =>
    found.length === 0
      ? `There are no ${many}.`
      : terminal.formatTable(
          titles,
          found.map((view) => rowOf(view).map((cell) => terminal.stripControls(cell))),
        ),
  );
}

async function changeOne(
  session: Session,
  { path, one, word, more = {} }: ObjectCommand,
  { action, name, rest }: { action: string; name: string | undefined; rest: readonly unknown[] },
): Promise<void> {
  if (name === undefined) throw new CommandError(`Name ${one}: parley ${word} ${action} <name>`);
  const { client, terminal, signal } = session;
  const runMore = more[action];
  if (runMore) return runMore(session, name, rest);
  const place = `${path}/${encodeURIComponent(name)}` as const;
  if (action === 'remove') {
    await client.call(place, { method: 'DELETE', signal });
    terminal.writeResult({ name }, () => terminal.stripControls(`Removed ${name}.`));
    return;
  }
  const view = await client.call<JsonObject>(place, { signal });
  const shown = word === 'workflows' ? definitionOf(view as unknown as Schemas['WorkflowView']) : view;
  terminal.writeResult(view, () => terminal.stripControls(definitionText(shown, 'yaml').trimEnd()));
}

/** Tests a stored model with one short call, and writes the start of its answer. @throws CommandError if it fails */
async function testModel({ client, terminal, signal }: Session, name: string): Promise<void> {
  const path = `/api/models/${encodeURIComponent(name)}/test` as const;
  const result = await client.call<Schemas['ModelTestView']>(path, { method: 'POST', signal });
  const { failure, text = '', usage, latencyMs } = result;
  if (failure) throw new CommandError(`${failure.cause}: ${failure.message}`, EXIT.failed, { ...failure, latencyMs });
  const tokens = usage ? `${usage.inputTokens} + ${usage.outputTokens} tokens` : 'tokens not reported';
  terminal.writeResult(result, () => terminal.stripControls(`${text}\n(${latencyMs} ms, ${tokens})`));
}

/** Options of `parley mcp call`. */
interface ToolCallOptions {
  data?: string;
  yes?: boolean;
}

/** Calls a tool of an MCP server once, and writes its result. @throws CommandError if the call fails */
async function callTool(
  { client, terminal, signal }: Session,
  server: string,
  rest: readonly unknown[],
): Promise<void> {
  const [tool, { data = '{}', yes = false }] = rest as [string | undefined, ToolCallOptions];
  if (tool === undefined) throw new CommandError('Name a tool: parley mcp call <server> <tool>');
  const args = tryParseJson(data);
  if (!isJsonObject(args)) throw new CommandError('--data must be a JSON object');
  const path = `/api/mcp-servers/${encodeURIComponent(server)}/call` as const;
  const body = { tool, args, confirmed: yes };
  const called = await client.call<Schemas['McpToolCallView']>(path, { method: 'POST', body, signal }).catch(askForYes);
  const { ok, error = '', result } = called;
  if (!ok) throw new CommandError(error, EXIT.failed);
  const text = (): string => (typeof result === 'string' ? result : JSON.stringify(result, null, 2));
  terminal.writeResult(called, () => terminal.stripControls(text()));
}

/**
 * Converts the service's refusal (409) of a call that needs a confirmation to a CommandError that names the option
 * `--yes`. Rethrows any other error.
 */
function askForYes(error: unknown): never {
  if (!(error instanceof ParleyError) || error.status !== 409) throw error;
  throw new CommandError(`${error.message} with --yes`);
}

/** Lists the objects of a kind over all pages. @param member member of the service's response that has the objects */
async function listPages({ client, signal }: Session, path: `/${string}`, member: string): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let pageToken = '';
  do {
    const page: JsonObject = await client.call(path, { query: pageToken === '' ? {} : { pageToken }, signal });
    const views = page[member];
    found.push(...(Array.isArray(views) ? views.filter(isJsonObject) : []));
    pageToken = typeof page['nextPageToken'] === 'string' ? page['nextPageToken'] : '';
  } while (pageToken !== '');
  return found;
}

const KEY_ACTIONS = ['list', 'make', 'rotate', 'revoke'] as const;
const SCOPES = ['agents', 'workflows', 'prompts', 'admin'] as const;

interface KeyCommandOptions {
  scope?: string[];
  overlap?: string;
}

/** Adds the command `keys`, for the API keys of callers. */
function addKeys(program: Command, session: Session): void {
  program
    .command('keys')
    .addArgument(new Argument('[action]', 'default: list').choices(KEY_ACTIONS).default('list'))
    .argument('[name]', "name of the caller, for make; the key's id, for rotate and revoke")
    .description('list, make, rotate or revoke API keys; a key is shown once')
    .option('--scope <scope...>', `${SCOPES.join(', ')}; for make (default: agents)`)
    .option('--overlap <seconds>', 'time for which the old key stays valid, for rotate', '0')
    .addHelpText(
      'after',
      exampleText(
        'parley keys make ann --scope agents workflows > ann.key',
        'parley keys rotate 0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11 --overlap 600',
      ),
    )
    .action((action: (typeof KEY_ACTIONS)[number], name: string | undefined, options: KeyCommandOptions) =>
      runKeyAction(session, action, name, options),
    );
}

async function runKeyAction(
  session: Session,
  action: (typeof KEY_ACTIONS)[number],
  name: string | undefined,
  { scope, overlap = '0' }: KeyCommandOptions,
): Promise<void> {
  const { client, terminal, signal } = session;
  if (action === 'list') return showKeys(session);
  if (name === undefined)
    throw new CommandError(
      action === 'make'
        ? 'Name the caller: parley keys make <name>'
        : `Name a key by its id: parley keys ${action} <id>`,
    );
  if (action === 'make') {
    const body = { name, ...(scope && { scopes: scope.flatMap((it) => it.split(',')) }) };
    return showMadeKey(session, await client.call<ShownNewKey>('/api/keys', { method: 'POST', body, signal }));
  }
  const place = `/api/keys/${encodeURIComponent(name)}` as const;
  if (action === 'revoke') {
    await client.call(place, { method: 'DELETE', signal });
    terminal.writeResult({ id: name }, () => terminal.stripControls(`Revoked ${name}.`));
    return;
  }
  if (!/^\d{1,9}$/.test(overlap)) throw new CommandError(`--overlap ${overlap}: must be a whole number of seconds`);
  const body = { overlapSeconds: Number(overlap) };
  showMadeKey(session, await client.call<ShownNewKey>(`${place}/rotate`, { method: 'POST', body, signal }));
}

type ShownNewKey = Schemas['MadeKeyView'];

async function showKeys({ client, terminal, signal }: Session): Promise<void> {
  const { keys } = await client.call<Schemas['KeyListView']>('/api/keys', { signal });
  const titles = ['ID', 'CALLER', 'SCOPES', 'MADE', 'ENDS'];
  const rowOf = ({ id, name, scopes, createdAt, endsAt }: Schemas['KeyView']): string[] => [
    ...[id, name, scopes.join(' ')].map((cell) => terminal.stripControls(cell)),
    timeText(createdAt),
    endsAt === undefined ? 'never' : timeText(endsAt),
  ];
  terminal.writeResult(keys, () =>
    keys.length === 0 ? 'There are no keys.' : terminal.formatTable(titles, keys.map(rowOf)),
  );
}

/** Writes a new key, alone, to standard output, and remarks to standard error. */
function showMadeKey({ terminal }: Session, made: ShownNewKey): void {
  terminal.writeNote(`Key ${made.id} of ${made.name} (${made.scopes.join(', ')}); it is shown only once:`);
  terminal.writeResult(made, () => terminal.stripControls(made.key));
}

/** Returns a value as the text of a table's cell; '' if it is absent. */
function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return (typeof value === 'string' ? value : JSON.stringify(value)).replaceAll(/\s+/g, ' ');
}

function timeText(value: unknown): string {
  return cellText(value).slice(0, 19).replace('T', ' ');
}
