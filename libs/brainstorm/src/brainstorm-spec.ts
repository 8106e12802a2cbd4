import { calledAgentOf } from '#libs/agents';
import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { StateAgent } from './core/canonical-state.js';
import type { AgentLlmConfig } from './core/llm-config.js';
import type { BrainstormRole } from './core/role.js';

/** Address of an agent: a URL, or a path in this service's catalog. */
type AgentTarget = { url: string } | { path: string };

/** Agent of a brainstorm, with all settings as they were at its start. */
export interface SettledAgent {
  /** Reference to the agent, as the caller wrote it. It identifies the agent in passes and provenance. */
  agent: string;
  name: string;
  role: BrainstormRole;
  target: AgentTarget;
  /** Name of the stored credential for calls to a remote agent; absent: none. */
  auth?: string;
  /**
   * Names of stored credentials, of which the first usable one is used: for calls to a remote agent, or for the model
   * calls of an agent of this service. Absent if the request names none, and in brainstorms of earlier versions.
   */
  credentials?: string[];
  llm: AgentLlmConfig;
  /** Names of the agent's skills; `skillWords` has their texts. */
  skills: string[];
  skillWords: string[];
}

/** Specification of a brainstorm: its idea, agents and limits. It never changes after the start, and has no secrets. */
export interface BrainstormSpec {
  idea: string;
  agents: SettledAgent[];
  maxIterations: number;
  systemPrompt?: string;
  /** Milliseconds without an event of the agent after which its call times out; absent: the default of calls. */
  timeoutMs?: number;
}

export const DEFAULT_ITERATIONS = 10;
export const MOST_ITERATIONS = 100;

/** Metadata key of the specification, in a brainstorm's Task and in the request for it. */
const BRAINSTORM_KEY = 'parley/brainstorm';

export function specMetadata(spec: BrainstormSpec): JsonObject {
  return { [BRAINSTORM_KEY]: spec as unknown as JsonObject };
}

/** Returns the specification in metadata. @throws Error if there is none */
export function specIn(metadata: JsonObject | undefined): BrainstormSpec {
  const spec = metadata?.[BRAINSTORM_KEY];
  if (!isJsonObject(spec)) throw new Error('The task is no brainstorm');
  return spec as unknown as BrainstormSpec;
}

/** Returns the agents in the form in which `meta.agents` of the state lists them. */
export function stateAgents({ agents }: BrainstormSpec): StateAgent[] {
  return agents.map(({ agent, name, role, llm, skills }) => ({
    agent_id: agent,
    name,
    role,
    provider: llm.provider,
    model: llm.model,
    skills,
  }));
}

const NAME = '[A-Za-z0-9_][A-Za-z0-9_-]{0,63}';
const WORKFLOW = new RegExp(`^${NAME}$`);
const PATH = new RegExp(`^(workflows/${NAME}(/nodes/(${NAME}\\.)*${NAME})?|agents/${NAME})$`);

/**
 * Parses a reference to an agent: a URL, a path of this service's directory (`workflows/w`, `workflows/w/nodes/n`,
 * `agents/a`), or the name of a workflow. Returns `undefined` for any other text; it does not check that the agent exists.
 */
export function agentTarget(reference: string): AgentTarget | undefined {
  if (/^https?:/i.test(reference)) return URL.canParse(reference) ? { url: reference } : undefined;
  if (PATH.test(reference)) return { path: reference };
  return WORKFLOW.test(reference) ? { path: `workflows/${reference}` } : undefined;
}

/** Returns the URL to call. @param baseUrl address of this service's local agents, without `/a2a` */
export function targetUrl(target: AgentTarget, baseUrl: string): string {
  return 'url' in target ? target.url : `${baseUrl}/a2a/${target.path}`;
}

/**
 * Returns the default name of an agent: the last segment of its path (without a final `/a2a`), or for a URL without a
 * path the host. The URL of a card counts as the URL of its agent.
 */
export function defaultName(target: AgentTarget): string {
  if ('path' in target) return target.path.split('/').at(-1) ?? target.path;
  const { host, pathname } = new URL(calledAgentOf(target.url));
  const last = pathname
    .replace(/\/(a2a)?\/?$/, '')
    .split('/')
    .at(-1);
  return last === undefined || last === '' ? host : last;
}
