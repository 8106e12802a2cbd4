import { Injectable, Module } from '@nestjs/common';
import { PublicFault } from '#libs/faults';
import {
  A2AError,
  type AgentCard,
  type AgentSkill,
  type CancelTaskRequest,
  type GetTaskRequest,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Part,
  type RunEventNote,
  type SendMessageRequest,
  statusUpdate,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '#libs/protocol';
import type { RevisionPrecondition, TaskEvent } from '#libs/tasks';
import {
  AgentExecutor,
  type CallContext,
  type DeclaredCapabilities,
  endChildrenJob,
  type RequestContext,
} from './agent-executor.js';

/** Content of an agent's extended card that its public card does not have. */
export interface AgentDetails {
  /** Skills that replace the skills of the public card. */
  skills: AgentSkill[];
  /** Schemas of the skills, by skill id. */
  schemas: Record<string, SkillSchema>;
}

/** Schema of the input and output of a skill. */
export interface SkillSchema {
  /** JSON Schema of the input's data Part. */
  input: JsonObject;
  /** Names of the Artifacts that the skill produces. */
  artifacts: string[];
}

/** Metadata key of a Task: the revision of the agent that accepted the Task. */
export const REVISION_KEY = 'parley/revision';

/** Members of the remote agent's own card that the card of the registered agent at this service also has. */
export type ForwardedCard = Omit<
  AgentCard,
  'supportedInterfaces' | 'capabilities' | 'securitySchemes' | 'securityRequirements' | 'signatures'
>;

/** Agent that this process serves. */
export interface ServedAgent {
  /** Path under the service's A2A root: `workflows/translate`, `workflows/translate/nodes/a`, `''` for the service. */
  path: string;
  name: string;
  description: string;
  version: string;
  skills: AgentSkill[];
  inputModes: string[];
  outputModes: string[];
  /**
   * Returns the media types that the agent accepts in a Message that begins a Task, if they are fewer than
   * `inputModes`; otherwise `undefined`. The method is absent if they are never fewer.
   * @param parts Parts of the Message: if all of them are certainly accepted, `undefined` is returned without a lookup
   */
  beginModes?: (parts?: readonly Part[]) => BeginModes;
  executor: AgentExecutor;
  /**
   * Precondition (`RevisionPrecondition`) that this revision of the agent is still the newest. Set if the revision
   * comes from a cache: the statement that creates a Task of the agent must then check it.
   */
  premise?: RevisionPrecondition;
  capabilities?: DeclaredCapabilities;
  /** Names of the operations that callers may use at the agent's URL; absent: all. */
  operations?: ReadonlySet<string>;
  /** Time at which the content of the card was last saved; absent if the card is constant while the process lives. */
  changedAt?: Date;
  /**
   * Card of the remote agent that this agent stands for (a registered agent). Its members replace the members of this
   * object.
   */
  card?: ForwardedCard;
  /** Reason why the agent no longer exists; set only on its placeholder, which serves the Tasks that it created. */
  gone?: UnknownAgent;
  /** Returns the content of the extended card; absent if the public card contains everything. */
  details?: () => Promise<AgentDetails>;
  /** Returns the current skills of the agents inside this agent (a workflow's nodes), for the extended card. */
  innerSkills?: () => Promise<AgentSkill[]>;
}

/** Media types that `ServedAgent.beginModes` returns; a promise if they must be looked up. */
export type BeginModes = readonly string[] | undefined | Promise<readonly string[] | undefined>;

/** Entry of the directory of agents. */
export type ListedAgent = Pick<ServedAgent, 'path' | 'name' | 'description'>;

/**
 * Error for a path that names no agent, or a node id that several workflows have. `reason` distinguishes these cases,
 * for the pre-1.0 dialect.
 */
export class UnknownAgent extends PublicFault {
  override readonly name = 'UnknownAgent';
  constructor(
    message: string,
    /** Stable reason for ErrorInfo: `NODE_NOT_FOUND`, `NODE_AMBIGUOUS`, `NO_EXECUTOR`, `AGENT_NOT_FOUND`. */
    readonly reason: string,
    readonly metadata: Record<string, string> = {},
  ) {
    super(message);
  }

  override get kind(): 'not-found' {
    return 'not-found';
  }
}

/** Catalog of the agents of this process, which are looked up at request time. */
export abstract class AgentCatalog {
  /** Returns the catalog that callers of a tenant see; by default this catalog, for services without tenants. */
  inTenant(_tenant: string): AgentCatalog {
    return this;
  }

  /**
   * Returns the agent at a path. `nodes/{id}` is the alias of a node whose id is unique over all workflows; the
   * returned agent has the node's full path.
   * @param revision saved state of the workflow, with which a run was started; absent: the newest
   * @throws UnknownAgent
   */
  abstract resolveAgent(path: string, revision?: string): Promise<ServedAgent>;

  /**
   * Returns the agent at a path as this process last saw it, with the precondition (`premise`) that this revision is
   * still the newest; `undefined` if only `resolveAgent` can find it. Makes no query.
   */
  findCachedAgent?(path: string): ServedAgent | undefined;

  /**
   * Returns the agent that handles a Message that was sent to a path: the agent of that path, or for the service the
   * workflow that the skill names.
   * @param skill name of the workflow; `undefined` if the Message has none
   * @param field request field that names the skill; `message.metadata.skillId` by default
   * @throws A2AError that names the field, if the skill is missing or unknown
   */
  abstract routeMessage(agent: ServedAgent, skill: string | undefined, field?: string): Promise<ServedAgent>;

  /** Lists at most `limit` entries of the directory after `pageToken`, in a stable order. */
  abstract listAgents(limit: number, pageToken?: string): Promise<{ agents: ListedAgent[]; nextPageToken: string }>;

  /** Returns the names of all workflows, in any order; none by default. */
  async listWorkflowNames(): Promise<readonly string[]> {
    return [];
  }

  /** Returns the names of all registered agents, in any order; none by default. */
  async listRegisteredNames(): Promise<readonly string[]> {
    return [];
  }

  /**
   * Returns the ids of the nodes of a workflow that are served as agents, in any order.
   * @throws UnknownAgent if there is no such workflow
   */
  async listNodeIds(workflow: string): Promise<readonly string[]> {
    throw new UnknownAgent(`workflow "${workflow}" not found`, 'AGENT_NOT_FOUND', { workflow });
  }
}

/** First segment of the paths of registered agents. */
export const REGISTERED_AGENTS = 'agents';

/**
 * Returns the path of the registered agent that the config of an `external` node names; `undefined` if the config names
 * no registered agent.
 */
export function registeredAgentPath({ agent }: JsonObject): string | undefined {
  return typeof agent === 'string' && agent !== '' ? `${REGISTERED_AGENTS}/${agent}` : undefined;
}

/**
 * Store of agents that belong to tenants, such as registered agents. AgentCatalog finds these agents, too. Their paths
 * are `{root}/{name}`.
 */
export interface AgentSource {
  /** First segment of the paths of this source's agents. */
  readonly root: string;
  /** Returns the agent of a name, as it was last saved; `undefined` if the tenant has no agent of this name. */
  findAgent(tenant: string, name: string): Promise<ServedAgent | undefined>;
  /** Returns an agent as this process last saw it (see `AgentCatalog.findCachedAgent`). */
  findCachedAgent?(tenant: string, name: string): ServedAgent | undefined;
  /** Lists at most `limit` agents of a tenant with names after `after`, sorted by name. */
  listAgents(tenant: string, limit: number, after: string): Promise<ListedAgent[]>;
}

/**
 * Registry of the agents that are part of the service, each at its own path, and of the sources of other agents
 * (AgentSource). AgentCatalog finds both; the directory of agents lists only the agents of sources.
 */
@Injectable()
export class BuiltInAgents {
  private readonly agents = new Map<string, ServedAgent>();
  private readonly sources = new Map<string, AgentSource>();

  /** Adds a source of agents. Call it before the service listens. */
  addSource(source: AgentSource): void {
    this.sources.set(source.root, source);
  }

  findSource(root: string): AgentSource | undefined {
    return this.sources.get(root);
  }

  /** Adds an agent. Call it before the service listens. */
  add(agent: ServedAgent): void {
    this.agents.set(agent.path, agent);
  }

  findAgent(path: string): ServedAgent | undefined {
    return this.agents.get(path);
  }
}

/** Module that shares one BuiltInAgents between the built-in agents and the catalog. */
@Module({ providers: [BuiltInAgents], exports: [BuiltInAgents] })
export class BuiltInAgentsModule {}

const GONE = 'The definition that this task was started with is gone';

/** Executor that ends Tasks whose agent no longer exists, and their children. Rejects every Message. */
class GoneExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  override readonly callsAgents = true;
  override readonly cancelGrace = 10_000;

  override checkRequest(): void {
    throw new A2AError('UNSUPPORTED_OPERATION', {
      message: `${GONE}: the task can be read and canceled, but accepts no message.`,
    });
  }

  async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const end = context.signal.aborted
      ? statusUpdate(context, 'TASK_STATE_CANCELED', `${GONE}; the task was canceled without its agent.`)
      : statusUpdate(context, 'TASK_STATE_FAILED', `${GONE}, so the task cannot continue.`);
    yield { ...end, jobs: [endChildrenJob(context.taskId)] };
  }
}

const EXECUTOR = new GoneExecutor();

/** Returns a placeholder for an agent that no longer exists, so that its Tasks can be read, listed and canceled. */
function goneAgent(gone: UnknownAgent, path: string, revision = ''): ServedAgent {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return {
    path,
    name,
    description: GONE,
    version: revision,
    skills: [],
    inputModes: [],
    outputModes: [],
    executor: EXECUTOR,
    gone,
  };
}

/**
 * Returns the agent that `find` returns, or a placeholder if the agent no longer exists.
 * @param path path of the agent, which the placeholder gets
 * @throws any other error of `find`
 */
export async function agentOrGone(
  find: () => Promise<ServedAgent>,
  path: string,
  revision?: string,
): Promise<ServedAgent> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof UnknownAgent)) throw error;
    return goneAgent(error, path, revision);
  }
}

/**
 * Prefix of a tool that is an agent. In the config of a node, a reference to the agent follows the prefix. In events,
 * the name of the agent follows it.
 */
export const AGENT_TOOL = 'agent:';

/** Tool of a node's config that is an agent. */
export interface AgentToolEntry {
  /** Index in the list of tools, from 0. */
  index: number;
  /** Name of the agent, its path below `/a2a`, or its URL. */
  reference: string;
  /** Reference of the agent that announces the end, if the tool call starts a conversation. */
  announce?: string;
}

/** Returns the tools in an `agent` node's config that are agents. Skips entries without a reference. */
export function agentToolEntries(tools: JsonValue | undefined): AgentToolEntry[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((entry, index) => {
    const reference = referenceIn(entry);
    const announce = announceIn(entry);
    return reference === undefined ? [] : [{ index, reference, ...(announce !== undefined && { announce }) }];
  });
}

function announceIn(entry: JsonValue): string | undefined {
  const talk = isJsonObject(entry) ? entry.talk : undefined;
  const announce = isJsonObject(talk) ? talk.announce : undefined;
  return typeof announce === 'string' && announce !== '' ? announce : undefined;
}

function referenceIn(entry: JsonValue): string | undefined {
  if (typeof entry === 'string') return entry.startsWith(AGENT_TOOL) ? entry.slice(AGENT_TOOL.length) : undefined;
  const agent = isJsonObject(entry) ? entry.agent : undefined;
  return typeof agent === 'string' && agent !== '' ? agent : undefined;
}

/**
 * Run events of a Task that its caller may lack, because an earlier execution of the caller ended before it had recorded
 * all of them.
 */
export interface MissedSteps {
  /** True for a run event that the caller records. */
  isRecorded(step: RunEventNote): boolean;
  /** Returns the number of these run events that the caller has: the first ones of the Task. */
  count(): number;
}

/**
 * Request handler for agents that call other agents of this process, without a socket. A higher layer implements it.
 *
 * - Requests come from Parley's own code and are not validated again.
 * - Calls wait while the database is unreachable.
 * - Errors are A2AErrors, as over HTTP.
 */
export interface LocalRequestHandler {
  /** Returns the agent that a call addresses, for the operations on its Tasks. */
  resolveAgent(call: CallContext, signal?: AbortSignal): Promise<ServedAgent>;
  /**
   * Sends a Message. Yields the new Task, then its events before they are durable, until the Task ends or waits; or
   * yields one direct Message.
   */
  sendInProcess(
    request: SendMessageRequest,
    call: CallContext,
    signal?: AbortSignal,
  ): AsyncGenerator<StreamResponse, void, undefined>;
  /** Follows a Task. @param options `missed`: run events of the Task that the caller lacks come before the Task */
  subscribeToTask(
    agent: ServedAgent,
    request: SubscribeToTaskRequest,
    call: CallContext,
    options: { signal?: AbortSignal; missed?: MissedSteps },
  ): AsyncIterable<{ readonly response: StreamResponse }>;
  getTask(agent: ServedAgent, request: GetTaskRequest, call: CallContext, signal?: AbortSignal): Promise<Task>;
  /** Cancels a Task. @param signal ends the wait for the cancel, not the cancel itself */
  cancelTask(agent: ServedAgent, request: CancelTaskRequest, call: CallContext, signal?: AbortSignal): Promise<Task>;
}
