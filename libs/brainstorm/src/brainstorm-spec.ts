import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { StateAgent } from './core/canonical-state.js';
import type { AgentLlmConfig } from './core/llm-config.js';
import type { Role } from './core/role.js';

/** Where an agent is: at a URL, or in this service at a path of its catalog. */
export type AgentTarget = { url: string } | { path: string };

/** One agent of a brainstorm, as it was settled when the brainstorm began. */
export interface BrainstormAgent {
  /** The reference that the caller gave; what passes and provenance call the agent. */
  agent: string;
  name: string;
  role: Role;
  target: AgentTarget;
  /** The name of the stored credential that it is called with. */
  auth?: string;
  /**
   * The names of stored credentials of which the first that may be used counts: for the call of an agent elsewhere, for
   * the model calls of one of this service. Absent in brainstorms of earlier versions, and where none is named.
   */
  credentials?: string[];
  llm: AgentLlmConfig;
  /** The names of its skills, and the words that they stand for. */
  skills: string[];
  skillWords: string[];
}

/** What a brainstorm is about and who takes part. Never changes once it has begun, and holds no secret. */
export interface BrainstormSpec {
  idea: string;
  agents: BrainstormAgent[];
  maxIterations: number;
  systemPrompt?: string;
  /** Milliseconds that an agent may keep silent before it is asked again. */
  timeoutMs?: number;
}

export const DEFAULT_ITERATIONS = 10;
export const MOST_ITERATIONS = 100;

/** The metadata key of a brainstorm's Task, and of the request for it, that holds the spec. */
export const BRAINSTORM_KEY = 'parley/brainstorm';

export function specMetadata(spec: BrainstormSpec): JsonObject {
  return { [BRAINSTORM_KEY]: spec as unknown as JsonObject };
}

/** The spec that metadata holds. @throws Error where it holds none: no brainstorm begins without */
export function specIn(metadata: JsonObject | undefined): BrainstormSpec {
  const spec = metadata?.[BRAINSTORM_KEY];
  if (!isJsonObject(spec)) throw new Error('The task is no brainstorm');
  return spec as unknown as BrainstormSpec;
}

/** The agents as the state names them. */
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
