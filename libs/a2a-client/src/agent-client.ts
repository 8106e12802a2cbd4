import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import type { MissedSteps } from '#libs/agents';
import type { SendGate } from '#libs/http-client';
import {
  type AgentCard,
  type AgentExtension,
  type Artifact,
  isActiveState,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type RunEventNote,
  runEventNote,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  type TaskPushNotificationConfig,
  type TaskState,
  type TaskStatus,
} from '#libs/protocol';
import type { TraceContext } from '#libs/service';
import { AgentCallError } from './agent-call-error.js';

/** Maximum number of characters of each text that clients keep of a card. */
const LONGEST = 2_048;
/** Maximum number of elements of each list that clients keep of a card. */
const MOST = 100;

/** Members of an agent's card that calls need. Clients keep only these members, however long the card is. */
export interface CalledCard extends Pick<AgentCard, 'name'> {
  capabilities: { extensions?: Pick<AgentExtension, 'uri'>[] };
  /** Default input media types; absent if the card lists more than 100. */
  defaultInputModes?: string[];
}

/**
 * Returns those members of a card that are needed to call the agent, within the limits LONGEST and MOST. The result
 * does not reference the card.
 *
 * - A name that is too long becomes empty. A media type that is too long is left out.
 * - An extension whose URI is too long, and every extension after the hundredth, is left out.
 */
export function calledCard({ name, capabilities, defaultInputModes }: SdkAgentCard): CalledCard {
  const uris = (capabilities?.extensions ?? []).map(({ uri }) => uri).filter(isKept);
  const modes = defaultInputModes.filter(isKept);
  return {
    name: isKept(name) ? name : '',
    capabilities: { extensions: uris.slice(0, MOST).map((uri) => ({ uri })) },
    ...(defaultInputModes.length <= MOST && { defaultInputModes: modes }),
  };
}

/**
 * Returns the members of a card that the SDK's client needs. The result does not reference the card.
 * @param chosen interface of the card (URL and binding) over which the agent is called
 */
export function sdkCalledCard({ capabilities }: SdkAgentCard, chosen: SdkAgentCard['supportedInterfaces'][number]) {
  const { streaming, pushNotifications, extendedAgentCard } = capabilities ?? {};
  return {
    name: '',
    description: '',
    version: '',
    provider: undefined,
    supportedInterfaces: [chosen],
    capabilities: { streaming, pushNotifications, extendedAgentCard, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: [],
    defaultOutputModes: [],
    skills: [],
    signatures: [],
  } satisfies SdkAgentCard;
}

function isKept(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LONGEST;
}

/** Time limits of a call to an agent, in milliseconds. */
export interface CallTimeouts {
  /**
   * Maximum time, in milliseconds, from the start of one attempt until the first event of its stream or, for a plain
   * call, until the response.
   */
  firstEvent: number;
  /** Maximum time, in milliseconds, between two received pieces of a stream. Heartbeats count as pieces. */
  idle: number;
  /** Maximum time, in milliseconds, of the whole call, with all its attempts and the pauses between them. */
  total: number;
  /** Maximum milliseconds of retries while the agent refuses the connection. A refused connection has sent nothing. */
  refused: number;
}

/**
 * Protocol that a caller of the agent may prescribe, instead of the protocol of the agent's card. `founding` is the
 * name of the pre-1.0 dialect in the definitions of workflows.
 */
type CalledProtocol = 'founding';

/** Function that is awaited before a Message is sent, and may prevent this (see `AgentCallOptions.fence`). */
export type SendFence = () => Promise<SendGate | void>;

export interface AgentCallOptions {
  signal?: AbortSignal;
  /** Run events that the caller may lack. An agent of this service sends them before its Task. */
  missed?: MissedSteps;
  timeouts?: Partial<CallTimeouts>;
  /** True if the caller limits the whole call, for example by `signal`: a Task is then polled until that limit. */
  isLimited?: boolean;
  /** Maximum number of retries of a Message after HTTP 5xx and time-outs; default 3. */
  resends?: number;
  /**
   * Calling Task, for in-process calls; its id is recorded on the child Task. The statement that creates the child Task
   * creates none if the calling Task is no longer claimed with the claim token `token`.
   */
  parent?: { taskId: string; reference: string; token?: string };
  /** Tenant and owner for whom the call is made. Agents of this service require it. */
  scope?: { tenant: string; owner: string };
  /** Revision of an agent of this service that must answer; default: the newest. */
  revision?: string;
  /**
   * Value of the `Idempotency-Key` header. Set only for a remote agent that is known to create one Task for one key,
   * however often a Message with the key is sent.
   */
  idempotencyKey?: string;
  /**
   * Function that is awaited right before each attempt to send a Message, and prevents the attempt by an exception.
   * The exception becomes the failure of the call; an AgentCallError keeps its kind. The function that it returns, if
   * any, is called once the attempt has a connection, right before the Message is sent, and may prevent it as well.
   */
  fence?: SendFence;
  /** Called with the failure when a connection is refused, and with `undefined` right before the call is retried. */
  onUnsent?: (failure: AgentCallError | undefined) => void;
  /**
   * Called before an attempt is repeated. The text names the failure, the number of the attempt, and the limit up to
   * which the call is repeated.
   */
  onRepeat?: (reason: string) => void;
  /**
   * Called with true when reading of the answer pauses for lack of memory, and with false when reading resumes. The
   * pause does not count against the time limits.
   */
  onPause?: (isPaused: boolean) => void;
  /** Trace context of the call; absent: the call is not traced. */
  trace?: TraceContext;
  /** Name of the stored credential that authenticates the call; absent: no stored credential is used. */
  credential?: string;
  /** URIs of the extensions that the call activates at an agent of A2A 1.0. */
  extensions?: readonly string[];
  /**
   * Further headers of calls over HTTP to an agent of A2A 1.0; the headers of the protocol take precedence. Absent:
   * none.
   */
  headers?: Readonly<Record<string, string>>;
  /** Protocol that the agent is known to speak; absent: the protocol of its card, or the detected one. */
  protocol?: CalledProtocol;
  /**
   * True if the URL of the agent comes from a source that is not trusted with the credential. The credential is then
   * sent only to hosts that the credential itself names.
   */
  onlyToHosts?: boolean;
}

/**
 * Outcome of CancelTask:
 * - `acknowledged`: the agent has answered with the Task, or the Task is already canceled.
 * - `refused`: the agent has answered with an error other than HTTP 5xx or 429, or with an invalid answer.
 * - `unreachable`: the agent did not answer, or answered with HTTP 5xx or 429.
 */
export type CancelOutcome = 'acknowledged' | 'refused' | 'unreachable';

/** Push config that is registered for a Task at an agent. The agent replaces its config with the same `id`, if any. */
export type TaskWebhook = Required<Pick<TaskPushNotificationConfig, 'id' | 'taskId' | 'url' | 'token'>>;

/** Client of one A2A agent. AgentDirectory creates it after resolving the agent's card. */
export abstract class AgentClient {
  /** URL of the agent, as in events and errors. */
  abstract readonly agentUrl: string;
  /**
   * Members of the agent's card that calls need; `undefined` if the agent has no card. `AgentDirectory.resolveCard`
   * returns the whole card.
   */
  abstract readonly card: CalledCard | undefined;

  /**
   * Returns the media types that the agent accepts as input (`defaultInputModes`); `undefined` if they are unknown, as
   * for an agent without a card. Never throws.
   */
  async inputModes(_options?: AgentCallOptions): Promise<readonly string[] | undefined> {
    return this.card?.defaultInputModes;
  }

  /** True if the agent's card declares an extension; false if the card's extensions are invalid. */
  declaresExtension(uri: string): boolean {
    const extensions: unknown = (this.card as Partial<CalledCard> | undefined)?.capabilities?.extensions;
    return Array.isArray(extensions) && extensions.some((it: JsonValue) => isJsonObject(it) && it.uri === uri);
  }

  /**
   * Sends a Message and yields the agent's answers as they arrive.
   *
   * - If the card declares streaming, these are the events of a stream; else the Task, once it exists and after each
   *   change.
   * - For a Message to an existing Task, the Task as the previous turn left it may come first.
   * - Ends after a direct Message, or a terminal or waiting state of this turn.
   *
   * @throws AgentCallError
   */
  abstract sendMessage(request: SendMessageRequest, options?: AgentCallOptions): AsyncIterable<StreamResponse>;

  /**
   * Yields an existing Task and its events until it ends or waits: by SubscribeToTask, or by polling GetTask if the
   * Task has ended or the agent does not stream.
   * @throws AgentCallError; `kind` is `not-found` if the agent does not know the Task
   */
  abstract followTask(taskId: string, options?: AgentCallOptions): AsyncIterable<StreamResponse>;

  /** Returns a Task. @throws AgentCallError; `kind` is `not-found` if the agent does not know the Task */
  abstract getTask(taskId: string, options?: AgentCallOptions): Promise<Task>;

  /** Cancels a Task. Never throws: an error becomes the outcome `refused` or `unreachable`. */
  abstract cancelTask(taskId: string, options?: AgentCallOptions): Promise<CancelOutcome>;

  /**
   * Registers a webhook for a Task, or replaces the webhook with the same id. Repeating the call has no further effect.
   * @throws AgentCallError; `kind` is `refused` if the agent cannot call webhooks
   */
  async registerWebhook(_webhook: TaskWebhook, _options?: AgentCallOptions): Promise<void> {
    throw new AgentCallError('refused', 'the agent calls no webhooks');
  }

  /**
   * Deletes a webhook of a Task at the agent. Does nothing for an agent that has no such method. @throws AgentCallError
   */
  async deleteWebhook(_webhook: Pick<TaskWebhook, 'id' | 'taskId'>, _options?: AgentCallOptions): Promise<void> {}
}

/** Resolves agents' cards and creates clients for them. */
export abstract class AgentDirectory {
  /**
   * Resolves an agent's card and returns a client for the agent. The card is read through an HTTP cache: a card with
   * `max-age=0` is requested for each client.
   * @param url an agent's base or card URL; a URL of this service is served in-process if so configured
   * @throws AgentCallError
   */
  abstract resolveClient(url: string, options?: AgentCallOptions): Promise<AgentClient>;

  /**
   * Returns the card of a remote agent; `undefined` if the agent has none.
   * @throws AgentCallError
   */
  async resolveCard(_url: string, _options?: AgentCallOptions): Promise<AgentCard | undefined> {
    return undefined;
  }

  /** Returns the pinned card of a remote agent without a request to it; `undefined` if none is pinned. */
  async pinnedCard(_url: string, _options?: Pick<AgentCallOptions, 'scope'>): Promise<JsonObject | undefined> {
    return undefined;
  }
}

/**
 * Metadata key that agents of the Agent Development Kit (ADK) set on a partial Artifact: a later Artifact repeats its
 * content in full.
 */
const PARTIAL = 'adk_partial';

/** Current answer of a called agent, built from its responses. Accepts the events of any agent, in any order. */
export class CalledTask {
  taskId: string | undefined;
  contextId: string | undefined;
  status: TaskStatus | undefined;
  private held = new Map<string, Artifact>();
  /** Ids of those Artifacts in `held` that the agent marked as partial. */
  private partial = new Set<string>();
  history: readonly Message[] = [];
  /** Direct Message, if the agent created no Task, or if its answer ended with a Message. */
  reply: Message | undefined;
  /** Newest Message that the agent sent while its Task was active: in the Task's status, or as a separate Message. */
  private earlier: Message | undefined;

  /**
   * Artifacts of the agent. Artifacts that are marked as partial, and questions (`isQuestion`), are left out if there
   * are other Artifacts.
   */
  get artifacts(): Artifact[] {
    const all = [...this.held.values()];
    const whole = all.filter((artifact) => !this.partial.has(artifact.artifactId) && !isQuestion(artifact));
    return whole.length > 0 ? whole : all;
  }

  /**
   * Last Message of the agent; `undefined` without any. The first of these that exists is returned: the direct Message,
   * the Message of the Task's status, the newest Message that the agent sent while it worked (the only answer of some
   * agents), the last Message of the history unless the caller sent it.
   */
  get lastMessage(): Message | undefined {
    const final = this.status?.message;
    if (this.reply || (final && final.parts.length > 0)) return this.reply ?? final;
    const last = this.history.at(-1);
    return this.earlier ?? (last?.role === 'ROLE_AGENT' ? last : final);
  }

  get state(): TaskState | undefined {
    return this.status?.state;
  }

  /** True if the agent has a Task that has neither ended nor waits. */
  get active(): boolean {
    return this.taskId !== undefined && (this.state === undefined || isActiveState(this.state));
  }

  /**
   * Applies a response to the current answer.
   * @returns the note about a step of the agent's own work (a run event), if the response is a status update that
   *   contains one
   */
  applyResponse(response: StreamResponse): RunEventNote | undefined {
    if ('message' in response) {
      const { message } = response;
      // Some agents (Agno) send the pieces of an answer as Messages with one id.
      if (this.reply?.messageId === message.messageId) this.reply.parts.push(...message.parts);
      else this.reply = { ...message, parts: [...message.parts] };
      return undefined;
    }
    if (this.reply) {
      // The Task has gone on after the Message, which is not the whole answer then.
      this.earlier = this.reply;
      this.reply = undefined;
    }
    if ('task' in response) this.takeTask(response.task);
    else if ('artifactUpdate' in response) this.takeArtifact(response.artifactUpdate);
    else {
      const { taskId, contextId, status, metadata } = response.statusUpdate;
      this.adoptIds(taskId, contextId);
      this.takeStatus(status);
      return runEventNote(metadata);
    }
    return undefined;
  }

  private takeStatus(status: TaskStatus): void {
    this.status = status;
    if (isActiveState(status.state) && status.message && status.message.parts.length > 0) this.earlier = status.message;
  }

  private takeTask(task: Task): void {
    this.adoptIds(task.id, task.contextId);
    this.takeStatus(task.status);
    this.held = heldArtifacts(task.artifacts);
    this.partial = new Set((task.artifacts ?? []).filter(isPartial).map(({ artifactId }) => artifactId));
    this.history = task.history ?? [];
  }

  /** Adds an Artifact, or a chunk of one, to the Task. The cost does not grow with the number of earlier chunks. */
  private takeArtifact({ taskId, contextId, artifact, append, metadata }: TaskArtifactUpdateEvent): void {
    this.adoptIds(taskId, contextId);
    const { artifactId } = artifact;
    if (isPartial(artifact) || metadata?.[PARTIAL] === true) this.partial.add(artifactId);
    else this.partial.delete(artifactId);
    const before = append ? this.held.get(artifactId) : undefined;
    if (before) addChunk(before, artifact);
    else this.held.set(artifactId, ownCopy(artifact));
  }

  private adoptIds(taskId: string, contextId: string): void {
    this.taskId ??= taskId;
    this.contextId ??= contextId;
  }
}

/** True for an Artifact of function calls alone: an agent built with ADK sends it to ask its caller. */
function isQuestion({ parts }: Artifact): boolean {
  return parts.length > 0 && parts.every(({ metadata }) => metadata?.['adk_type'] === 'function_call');
}

function heldArtifacts(artifacts: readonly Artifact[] = []): Map<string, Artifact> {
  return new Map(artifacts.map((artifact) => [artifact.artifactId, ownCopy(artifact)]));
}

function isPartial({ metadata }: Pick<Artifact, 'metadata'>): boolean {
  return metadata?.[PARTIAL] === true;
}

/**
 * Appends a later chunk to the Artifact `before`: its Parts are added at the end, and its other members, also those of
 * its metadata, replace earlier values.
 */
function addChunk(before: Artifact, { parts, artifactId: _id, metadata, ...said }: Artifact): void {
  before.parts.push(...parts);
  Object.assign(before, said, metadata && { metadata: { ...before.metadata, ...metadata } });
}

/** Copies an Artifact to which chunks will be added. */
function ownCopy(artifact: Artifact): Artifact {
  return { ...artifact, parts: [...artifact.parts] };
}
