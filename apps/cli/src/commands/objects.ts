import { Argument, type Command } from 'commander';
import type { Schemas } from '#libs/client';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import { exampleText } from '../examples.js';
import { CommandError } from '../exit-code.js';
import { definitionOf, definitionText, savedWorkflows } from '../saved-workflows.js';
import type { Session } from '../session.js';

/** Command that lists, shows and removes the objects of one kind. */
interface ObjectCommand {
  /** Word of the command line, such as `models`. */
  word: string;
  /** Path of the API that lists the objects. */
  path: `/${string}`;
  /** Name of one object in messages, with its article, such as `an MCP server`. */
  one: string;
  /** Plural in messages. */
  many: string;
  /** Titles of the table, with the function that makes the row of an object. */
  titles: readonly string[];
  rowOf: (view: JsonObject) => string[];
  /** Lists all objects. */
  list: (session: Session) => Promise<JsonObject[]>;
  example: string;
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
    example: 'parley models --json',
  },
  {
    word: 'mcp',
    path: '/api/mcp-servers',
    one: 'an MCP server',
    many: 'MCP servers',
    titles: ['NAME', 'STATUS', 'FROM', 'CREDENTIAL', 'URL'],
    rowOf: ({ name, status, source, auth, url }) => [name, status ?? 'not called yet', source, auth, url].map(cellText),
    list: (session) => listPages(session, '/api/mcp-servers', 'servers'),
    example: 'parley mcp show github',
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
];

/** Adds the commands `workflows`, `models`, `mcp`, `credentials` and `keys`, which manage the objects of a service. */
export function addObjectCommands(program: Command, session: Session): void {
  for (const command of COMMANDS) {
    program
      .command(command.word)
      .addArgument(new Argument('[action]', `default: list`).choices(ACTIONS).default('list'))
      .argument('[name]', `name, for show and remove`)
      .description(`list, show or remove ${command.many} of the service`)
      .addHelpText('after', exampleText(`parley ${command.word}`, command.example))
      .action((action: (typeof ACTIONS)[number], name: string | undefined) =>
        action === 'list' ? showList(session, command) : changeOne(session, command, { action, name }),
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
  { client, terminal, signal }: Session,
  { path, one, word }: ObjectCommand,
  { action, name }: { action: 'show' | 'remove'; name: string | undefined },
): Promise<void> {
  if (name === undefined) throw new CommandError(`Name ${one}: parley ${word} ${action} <name>`);
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

/** Lists the objects of a kind over all pages. */
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
