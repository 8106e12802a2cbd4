import type { AgentSkill, JsonObject } from '#libs/protocol';
import type { Premise } from '#libs/tasks';
import type { AgentExecutor, DeclaredCapabilities } from './agent-executor.js';

/** What an agent tells callers that it knows, beyond its public card. */
export interface AgentDetails {
  /** Instead of those of the public card. */
  skills: AgentSkill[];
  /** By the id of a skill. */
  schemas: Record<string, SkillSchema>;
}

/** What a skill takes, and what comes of it. */
export interface SkillSchema {
  /** A JSON Schema of the data Part. */
  input: JsonObject;
  /** The names of its Artifacts. */
  artifacts: string[];
}

/** An agent that this process serves. */
export interface ServedAgent {
  /** Its place under the service's A2A root: `workflows/translate`, `workflows/translate/nodes/a`, `''` for the service. */
  path: string;
  name: string;
  description: string;
  version: string;
  skills: AgentSkill[];
  inputModes: string[];
  outputModes: string[];
  executor: AgentExecutor;
  /** Present where nobody has asked whether this is its newest revision: what is made on it has to ask. */
  premise?: Premise;
  capabilities?: DeclaredCapabilities;
  /** When what its card says was last saved; absent: it does not change while the process lives. */
  changedAt?: Date;
  /** Why there is no such agent any more: it only stands for the one that its Tasks were made by. */
  gone?: UnknownAgent;
  /** Absent: nothing more than its card says. */
  details?: () => Promise<AgentDetails>;
  /** The skills of the agents that it consists of, as they are at the moment; callers that it knows are told of them. */
  innerSkills?: () => Promise<AgentSkill[]>;
}

/** An agent as the directory lists it. */
export type ListedAgent = Pick<ServedAgent, 'path' | 'name' | 'description'>;

/** Why a path names no agent: the pre-1.0 dialect distinguishes these, an id that several workflows have among them. */
export class UnknownAgent extends Error {
  override readonly name = 'UnknownAgent';
  constructor(
    message: string,
    /** A stable word for ErrorInfo: `NODE_NOT_FOUND`, `NODE_AMBIGUOUS`, `NO_EXECUTOR`, `AGENT_NOT_FOUND`. */
    readonly reason: string,
    readonly metadata: Record<string, string> = {},
  ) {
    super(message);
  }
}

/** The agents of this process, looked up at request time. */
export abstract class AgentCatalog {
  /** The agents that callers of a tenant see; all the same where a catalog knows no tenants. */
  inTenant(_tenant: string): AgentCatalog {
    return this;
  }

  /**
   * The agent at a path. `nodes/{id}` is the alias of a node whose id is unique over all workflows; the agent that
   * comes back has its canonical path. `revision` asks for the definition that a run was started with.
   * @throws UnknownAgent
   */
  abstract resolve(path: string, revision?: string): Promise<ServedAgent>;

  /**
   * The agent at a path as this process saw it last, with its `premise`; `undefined` where it has to be resolved. Costs
   * no query.
   */
  recent?(path: string): ServedAgent | undefined;

  /**
   * The agent that shall handle a Message sent to a path: the agent itself, or for the service the workflow that the
   * skill names.
   * @param field where the request names the skill; `message.metadata.skillId` unless told otherwise
   * @throws A2AError where the skill is missing or unknown; it names the field
   */
  abstract route(agent: ServedAgent, skill: string | undefined, field?: string): Promise<ServedAgent>;

  /** The directory in a stable order, at most `limit` after `pageToken`. */
  abstract list(limit: number, pageToken?: string): Promise<{ agents: ListedAgent[]; nextPageToken: string }>;
}
