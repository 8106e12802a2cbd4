import { Argument, type Command } from 'commander';
import { createClient, type ParleyClient, type Schemas } from '#libs/client';
import { OBJECT_KINDS, objectKind, savedObjects } from '../object-kinds.js';
import type { Session } from '../session.js';

/** Name of the hidden command that prints names for completion scripts. */
export const NAMES_COMMAND = 'names';

/** Timeout of a completion in milliseconds, so that a service that is away delays no typing. */
const GIVE_UP_MS = 1_000;
/** Maximum number of runs that are proposed, the most recently updated first. */
const MOST_RUNS = 50;

const KINDS = [
  'workflows',
  'runs',
  'nodes',
  'agents',
  'schedules',
  'triggers',
  'limits',
  'models',
  'mcp',
  'credentials',
  'keys',
  'causes',
  'exports',
] as const;

/** Kind of names that the service knows; `exports` are the names that `export` accepts. */
type NameKind = (typeof KINDS)[number];

/** Kinds of names that a command expects. */
interface ExpectedNames {
  /** Kind of the first operand. */
  first?: NameKind;
  /** Kind of the second operand. */
  second?: NameKind;
  /** Kinds of the values of options, by each spelling of the option. */
  options?: Readonly<Record<string, NameKind>>;
}

/** Options of the commands that take a filter of runs. */
const FILTERS = { '-w': 'workflows', '--workflow': 'workflows', '--cause': 'causes' } as const;

/** Kinds of names that each command expects. `nodes` are the nodes of the run in the first operand. */
export const EXPECTED_NAMES: Readonly<Record<string, ExpectedNames>> = {
  run: { first: 'workflows' },
  runs: { options: FILTERS },
  'cancel-runs': { first: 'runs', options: FILTERS },
  'rerun-runs': { first: 'runs', options: FILTERS },
  logs: { first: 'runs' },
  cancel: { first: 'runs' },
  answer: { first: 'runs', options: { '--node': 'nodes' } },
  rerun: { first: 'runs', options: { '--from': 'nodes', '--edit': 'nodes' } },
  export: { first: 'exports', second: 'exports' },
  generate: { options: { '-m': 'models', '--model': 'models' } },
  agents: { second: 'agents', options: { '--auth': 'credentials' } },
  workflows: { second: 'workflows' },
  models: { second: 'models' },
  mcp: { second: 'mcp' },
  credentials: { second: 'credentials' },
  schedules: { second: 'schedules' },
  triggers: { second: 'triggers' },
  limits: { second: 'limits' },
  keys: { second: 'keys' },
};

/**
 * Adds the hidden command `names`. If the service refuses or does not answer within GIVE_UP_MS, the command prints no
 * names and succeeds.
 */
export function addNames(program: Command, session: Session): void {
  program
    .command(NAMES_COMMAND, { hidden: true })
    .addArgument(new Argument('<kind>').choices(KINDS))
    .argument('[run]', 'run whose nodes are printed')
    .description('print names of the service, for completion')
    .action((kind: NameKind, run: string | undefined) => printNames(session, kind, run));
}

async function printNames({ terminal, url, apiKey }: Session, kind: NameKind, run: string | undefined): Promise<void> {
  const signal = AbortSignal.timeout(GIVE_UP_MS);
  // The client of the session reports a service that is away; here that must be silent.
  const client = createClient({ url, apiKey, fetch });
  const names = await findNames({ client, signal }, kind, run).catch(() => []);
  const shown = names.filter((name) => /^[\w./-]+$/.test(name));
  terminal.writeResult(shown, () => shown.join('\n'));
}

interface Lookup {
  client: ParleyClient;
  signal: AbortSignal;
}

async function findNames(lookup: Lookup, kind: NameKind, run: string | undefined): Promise<string[]> {
  const { client, signal } = lookup;
  switch (kind) {
    case 'workflows':
      return workflowNames(lookup);
    case 'runs':
      return (await client.list({ pageSize: MOST_RUNS }, { signal })).runs.map(({ runId }) => runId);
    case 'nodes':
      return run === undefined ? [] : Object.keys((await client.get(run, { signal })).nodes);
    case 'keys':
      return (await client.call<Schemas['KeyListView']>('/api/keys', { signal })).keys.map(({ id }) => id);
    case 'causes':
      return (await client.call<Schemas['Overview']>('/api/overview', { signal })).failures.map(({ id }) => id);
    case 'exports':
      return exportNames(lookup);
    default:
      return objectNames(lookup, LISTED_KINDS[kind]);
  }
}

/** Kind of the objects (`ObjectKind.kind`) whose names are listed, by the argument of the command `names`. */
const LISTED_KINDS = {
  agents: 'agent',
  models: 'model',
  mcp: 'mcp-server',
  credentials: 'credential',
  schedules: 'schedule',
  triggers: 'trigger',
  limits: 'limit',
} as const;

async function workflowNames({ client, signal }: Lookup): Promise<string[]> {
  const page = await client.call<{ name: string }[]>('/api/workflows', { signal });
  return page.map(({ name }) => name);
}

async function objectNames(lookup: Lookup, name: string): Promise<string[]> {
  const kind = objectKind(name);
  return kind === undefined ? [] : ((await savedObjects(lookup, kind)) ?? []).map((it) => it.name);
}

async function exportNames(lookup: Lookup): Promise<string[]> {
  const kinds = OBJECT_KINDS.map(async ({ kind }) =>
    (await objectNames(lookup, kind)).map((name) => `${kind}/${name}`),
  );
  return (await Promise.all([workflowNames(lookup), ...kinds])).flat();
}
