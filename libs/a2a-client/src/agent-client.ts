import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
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
  type TaskState,
  type TaskStatus,
} from '#libs/protocol';
import type { TraceContext } from '#libs/service';
import type { AgentCallError } from './agent-call-error.js';

/** Maximum number of characters of each kept text, and of elements of each list. */
const LONGEST = 2_048;
const MOST = 100;

/** Part of an agent's card that calls need. Clients keep only this, however long the card is. */
export interface CalledCard extends Pick<AgentCard, 'name'> {
  capabilities: { extensions?: Pick<AgentExtension, 'uri'>[] };
  /** Default input media types; absent if the card has more than are kept. */
  defaultInputModes?: string[];
}

/**
 * Returns the part of a card that calls need, within limits. The card itself is not referenced.
 *
 * - A name beyond the limit is empty.
 * - Extensions beyond the limits count as not declared.
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

/** Returns the part of a card that the SDK's client needs. The card itself is not referenced. */
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

/** Limits of an outbound call, in milliseconds; each of the first four has its own error. */
export interface CallTimeouts {
  connect: number;
  /** Time until the first response event or, for a plain call, the response. */
  firstEvent: number;
  /** Time between two events of a stream. */
  idle: number;
  /** Time for the whole call. */
  total: number;
  /** Time for which a refused connection is retried; nothing was sent then. */
  refused: number;
}

/** Protocol that a caller may request: the pre-1.0 dialect, by its name in workflows. */
export type CalledProtocol = 'founding';

export interface AgentCallOptions {
  signal?: AbortSignal;
  timeouts?: Partial<CallTimeouts>;
  /** True if the caller limits the whole call: an active Task is then polled until that limit. */
  isLimited?: boolean;
  /** Number of times a Message is sent again after 5xx and time-outs; default 3. */
  resends?: number;
  /**
   * Caller, for in-process calls: recorded on the child Task, which is created only while the claim belongs to `token`.
   */
  parent?: { taskId: string; reference: string; token?: string };
  /** Tenant and owner of the caller, for agents of this service. */
  scope?: { tenant: string; owner: string };
  /** Revision of an agent of this service that shall answer; default: the newest. */
  revision?: string;
  /**
   * Value of the `Idempotency-Key` header, for a remote agent known to create one Task for it however often it is sent.
   */
  idempotencyKey?: string;
  /**
   * Awaited right before each attempt to send a Message. An exception becomes the failure of the call; an
   * AgentCallError keeps its kind.
   */
  fence?: () => Promise<void>;
  /** Called with the failure while connections are refused, and with `undefined` when the call is retried. */
  onUnsent?: (failure: AgentCallError | undefined) => void;
  /** Called when reading of the answer pauses or resumes for lack of room, which does not count as the agent's time. */
  onPause?: (isPaused: boolean) => void;
  /** Trace context of the call. */
  trace?: TraceContext;
  /** Name of a stored credential. */
  credential?: string;
  /** Protocol that the agent is known to speak; absent: that of its card, or the one detected. */
  protocol?: CalledProtocol;
  /** True if the source of the URL is not trusted with the credential: it is used only for hosts that it names. */
  onlyToHosts?: boolean;
}

/** Outcome of CancelTask at an agent. */
export type CancelOutcome = 'acknowledged' | 'refused' | 'unreachable';

/** Client of one A2A agent, created by AgentDirectory, which has resolved the card. */
export abstract class AgentClient {
  /** URL of the agent, as in events and errors. */
  abstract readonly agentUrl: string;
  /** Part of the agent's card that calls need; `AgentDirectory` returns the whole card. */
  abstract readonly card: CalledCard | undefined;

  /** Returns the media types that the agent accepts; `undefined` if unknown. Never throws. */
  async inputModes(_options?: AgentCallOptions): Promise<readonly string[] | undefined> {
    return this.card?.defaultInputModes;
  }

  /** True if the agent's card declares an extension; false if the card's extensions are invalid. */
  declaresExtension(uri: string): boolean {
    const extensions: unknown = (this.card as Partial<CalledCard> | undefined)?.capabilities?.extensions;
    return Array.isArray(extensions) && extensions.some((it: JsonValue) => isJsonObject(it) && it.uri === uri);
  }

  /**
   * Sends a Message and yields the agent's answers as they arrive: as a stream if the card declares streaming, else the
   * Task as soon as there is one, and after each change. Ends after a terminal or waiting state of this turn, or a
   * direct Message. The Task as the previous turn left it may come first.
   * @throws AgentCallError
   */
  abstract sendMessage(request: SendMessageRequest, options?: AgentCallOptions): AsyncIterable<StreamResponse>;

  /**
   * Follows an existing Task: by SubscribeToTask, or by GetTask if it has ended or the agent does not stream.
   * @throws AgentCallError; `kind` is `not-found` if the agent does not know the Task
   */
  abstract followTask(taskId: string, options?: AgentCallOptions): AsyncIterable<StreamResponse>;

  /** Returns a Task. @throws AgentCallError */
  abstract getTask(taskId: string, options?: AgentCallOptions): Promise<Task>;

  /** Cancels a Task. Never throws: an error is an outcome. */
  abstract cancelTask(taskId: string, options?: AgentCallOptions): Promise<CancelOutcome>;
}

/** Resolves agents' cards and creates clients for them. */
export abstract class AgentDirectory {
  /**
   * Resolves the AgentCard and returns a client. The card is resolved for each client, through an HTTP cache: with
   * `max-age=0` it is requested each time.
   * @param url an agent's base or card URL; a URL of this service is served in-process if so configured
   * @throws AgentCallError
   */
  abstract resolveClient(url: string, options?: AgentCallOptions): Promise<AgentClient>;

  /**
   * Returns the card of a remote agent; `undefined` if there is none.
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

/** Current answer of a called agent. Accepts the events of any agent, in any order. */
export class CalledTask {
  taskId: string | undefined;
  contextId: string | undefined;
  status: TaskStatus | undefined;
  private held = new Map<string, Artifact>();
  history: readonly Message[] = [];
  /** Direct Message, if the agent created no Task. */
  reply: Message | undefined;

  get artifacts(): Artifact[] {
    return [...this.held.values()];
  }

  get state(): TaskState | undefined {
    return this.status?.state;
  }

  /** True if there is a Task that has neither ended nor waits. */
  get active(): boolean {
    return this.taskId !== undefined && (this.state === undefined || isActiveState(this.state));
  }

  /** Applies a response and returns the step that it reports, if any. */
  applyResponse(response: StreamResponse): RunEventNote | undefined {
    if ('message' in response) this.reply = response.message;
    else if ('task' in response) this.takeTask(response.task);
    else if ('artifactUpdate' in response) this.takeArtifact(response.artifactUpdate);
    else {
      const { taskId, contextId, status, metadata } = response.statusUpdate;
      this.adoptIds(taskId, contextId);
      this.status = status;
      return runEventNote(metadata);
    }
    return undefined;
  }

  private takeTask(task: Task): void {
    this.adoptIds(task.id, task.contextId);
    this.status = task.status;
    this.held = heldArtifacts(task.artifacts);
    this.history = task.history ?? [];
  }

  /** Adds an Artifact or chunk at constant cost, however many chunks came before. */
  private takeArtifact({ taskId, contextId, artifact, append }: TaskArtifactUpdateEvent): void {
    this.adoptIds(taskId, contextId);
    const before = append ? this.held.get(artifact.artifactId) : undefined;
    if (before) addChunk(before, artifact);
    else this.held.set(artifact.artifactId, ownCopy(artifact));
  }

  private adoptIds(taskId: string, contextId: string): void {
    this.taskId ??= taskId;
    this.contextId ??= contextId;
  }
}

function heldArtifacts(artifacts: readonly Artifact[] = []): Map<string, Artifact> {
  return new Map(artifacts.map((artifact) => [artifact.artifactId, ownCopy(artifact)]));
}

/** Appends the Parts of a later chunk to an Artifact and merges its other members; later values win. */
function addChunk(before: Artifact, { parts, artifactId: _id, metadata, ...said }: Artifact): void {
  before.parts.push(...parts);
  Object.assign(before, said, metadata && { metadata: { ...before.metadata, ...metadata } });
}

/** Copies an Artifact to which chunks will be added. */
function ownCopy(artifact: Artifact): Artifact {
  return { ...artifact, parts: [...artifact.parts] };
}
