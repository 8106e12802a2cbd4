import type { Schemas } from '#libs/client';
import type { DirectoryAgent } from '../../../api/directory.js';

/** An agent that may be a tool of a model. */
export interface CallableAgent {
  /** Name, path below `/a2a`, or URL, as after `agent:` in a config. */
  reference: string;
  /** Description or origin of the agent. */
  about: string;
}

const PREFIX = 'agent:';

/** Maximum number of suggestions shown at once. */
const MOST_SHOWN = 20;

/** Returns the entry of a config's `tools` for an agent without settings of its own. */
export function agentEntry(reference: string): string {
  return `${PREFIX}${reference}`;
}

/** Returns the agent's reference in an entry of `tools`; `undefined` if the entry is another kind of tool. */
export function referenceIn(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry.startsWith(PREFIX) ? entry.slice(PREFIX.length) : undefined;
  const agent = (entry as { agent?: unknown } | null | undefined)?.agent;
  return typeof agent === 'string' ? agent : undefined;
}

/** Returns the name of an agent with settings of its own (`others`) in the config's list `approve`. */
export function approvedName(entry: object): string {
  const { name } = entry as { name?: unknown };
  return agentEntry(typeof name === 'string' ? name : (referenceIn(entry) ?? ''));
}

/**
 * Returns the agents that a node of a workflow may call, each once: agents of this service that do not belong to the
 * workflow itself, then remote agents.
 * @param added URLs that the person has added in this browser
 */
export function callableAgents(
  workflow: string,
  served: readonly Pick<DirectoryAgent, 'path' | 'description'>[],
  pinned: readonly Pick<Schemas['CardView'], 'url' | 'name'>[],
  added: readonly string[],
): CallableAgent[] {
  const own = `workflows/${workflow}`;
  const here = served
    .filter(({ path }) => path !== '' && path !== own && !path.startsWith(`${own}/`))
    .map(({ path, description }) => ({ reference: path.replace(/^workflows\/([^/]+)$/, '$1'), about: description }));
  const elsewhere = [...pinned.map(({ url, name }) => ({ reference: url, about: name })), ...added.map(withUrlAlone)];
  const byReference = new Map<string, CallableAgent>();
  for (const agent of [...here, ...elsewhere])
    if (!byReference.has(agent.reference)) byReference.set(agent.reference, agent);
  return [...byReference.values()];
}

function withUrlAlone(url: string): CallableAgent {
  return { reference: url, about: 'added in this browser' };
}

/** Returns at most MOST_SHOWN agents that match a typed text; names that begin with it come first. */
export function matchingAgents(agents: readonly CallableAgent[], typed: string): CallableAgent[] {
  const text = typed.trim().toLowerCase();
  const rankAgent = ({ reference, about }: CallableAgent): number => {
    const name = reference.toLowerCase();
    if (name.startsWith(text)) return 0;
    if (name.includes(text)) return 1;
    return about.toLowerCase().includes(text) ? 2 : 3;
  };
  const ranked = agents.map((agent) => ({ agent, rank: rankAgent(agent) })).filter((it) => it.rank < 3);
  return ranked
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, MOST_SHOWN)
    .map(({ agent }) => agent);
}
