import type { AgentSkill, JsonObject } from '#libs/protocol';
import type { RevisionPrecondition } from '#libs/tasks';
import type { AgentExecutor, DeclaredCapabilities } from './agent-executor.js';

/** Content of an agent's extended card beyond its public card. */
export interface AgentDetails {
  /** Skills that replace those of the public card. */
  skills: AgentSkill[];
  /** Schemas by skill id. */
  schemas: Record<string, SkillSchema>;
}

/** Input and output of a skill. */
export interface SkillSchema {
  /** JSON Schema of the data Part. */
  input: JsonObject;
  /** Names of the Artifacts. */
  artifacts: string[];
}

/** An agent that this process serves. */
export interface ServedAgent {
  /** Path under the service's A2A root: `workflows/translate`, `workflows/translate/nodes/a`, `''` for the service. */
  path: string;
  name: string;
  description: string;
  version: string;
  skills: AgentSkill[];
  inputModes: string[];
  outputModes: string[];
  executor: AgentExecutor;
  /** Precondition that this is the newest revision. Set if that has not been checked: a Task made on it must check. */
  premise?: RevisionPrecondition;
  capabilities?: DeclaredCapabilities;
  /** Time at which the content of the card was last saved; absent if it is constant while the process lives. */
  changedAt?: Date;
  /** Reason why the agent no longer exists. Set if this object only stands in for it, for the Tasks that it made. */
  gone?: UnknownAgent;
  /** Returns the content of the extended card; absent if the public card says everything. */
  details?: () => Promise<AgentDetails>;
  /** Returns the current skills of the agents that it consists of, for the extended card. */
  innerSkills?: () => Promise<AgentSkill[]>;
}

/** Entry of the directory. */
export type ListedAgent = Pick<ServedAgent, 'path' | 'name' | 'description'>;

/**
 * Error for a path that names no agent. The pre-1.0 dialect distinguishes the reasons, among them an id that several
 * workflows have.
 */
export class UnknownAgent extends Error {
  override readonly name = 'UnknownAgent';
  constructor(
    message: string,
    /** Stable reason for ErrorInfo: `NODE_NOT_FOUND`, `NODE_AMBIGUOUS`, `NO_EXECUTOR`, `AGENT_NOT_FOUND`. */
    readonly reason: string,
    readonly metadata: Record<string, string> = {},
  ) {
    super(message);
  }
}

/** Agents of this process, looked up at request time. */
export abstract class AgentCatalog {
  /** Returns the catalog that callers of a tenant see; this catalog if it has no tenants. */
  inTenant(_tenant: string): AgentCatalog {
    return this;
  }

  /**
   * Returns the agent at a path. `nodes/{id}` is the alias of a node whose id is unique over all workflows; the
   * returned agent has its canonical path. `revision` selects the definition that a run was started with.
   * @throws UnknownAgent
   */
  abstract resolveAgent(path: string, revision?: string): Promise<ServedAgent>;

  /**
   * Returns the agent at a path as this process last saw it, with its `premise`; `undefined` if it has to be resolved.
   * Makes no query.
   */
  findCachedAgent?(path: string): ServedAgent | undefined;

  /**
   * Returns the agent that handles a Message sent to a path: the agent itself, or for the service the workflow that the
   * skill names.
   * @param field request field that names the skill; `message.metadata.skillId` by default
   * @throws A2AError that names the field, if the skill is missing or unknown
   */
  abstract routeMessage(agent: ServedAgent, skill: string | undefined, field?: string): Promise<ServedAgent>;

  /** Lists at most `limit` entries of the directory after `pageToken`, in a stable order. */
  abstract listAgents(limit: number, pageToken?: string): Promise<{ agents: ListedAgent[]; nextPageToken: string }>;
}
