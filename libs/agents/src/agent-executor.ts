import { z } from 'zod';
import type { Job } from '#libs/jobs';
import { goneSignal } from '#libs/postgres';
import {
  type AgentCapabilities,
  type JsonObject,
  type Message,
  type Part,
  type SendMessageRequest,
  type Task,
  TaskChangedHands,
} from '#libs/protocol';
import type { TraceContext } from '#libs/service';
import type { LogAdmission, LogPlace, RecordedEvent, TaskEvent, TaskScope } from '#libs/tasks';
import type { TurnTrace } from '#libs/tracing';
import type { SpanStep } from './span-step.js';

/** Parts with their bytes. They count as memory of their owner until they are disposed of. */
export interface HeldParts extends Disposable {
  readonly parts: Part[];
}

/** Restores the bytes of Parts that will be recorded. The bytes read count as memory of the owner until disposal. */
export interface PartRestorer extends Disposable {
  /**
   * Returns the Parts as they were sent.
   * - Stored files of the owner become bytes, up to ARTIFACT_LIMIT in total. Further files stay URLs.
   * - A Part that names no stored file stays a URL, without its `KEPT_FILE` metadata.
   * - Waits for an unreachable database, for memory for the bytes in this process, and five minutes for a storage that
   *   does not answer.
   * @throws if the storage does not answer in time, or the file is gone; the signal's reason
   */
  restoreParts(parts: readonly Part[]): Promise<Part[]>;
}

/**
 * Stores the bytes of large `raw` Parts in the file storage instead of in the logs of Tasks. A stored Part has a URL of
 * this service instead of its bytes, and `KEPT_FILE` in its metadata. A signed address of one of the owner's files
 * becomes the URL of the file, which does not expire.
 * - A file is durable before `keepParts` resolves. It expires unless a Task names it before then.
 * - A Part that cannot be stored keeps its bytes.
 */
export abstract class PartKeeper {
  /** True if `keepParts` may change these Parts. Nearly all Parts need no change. */
  abstract concernsParts(parts: readonly Part[]): boolean;

  /**
   * Returns the Parts with large bytes stored as files. Removes `KEPT_FILE` metadata that names no stored file.
   * @param signal if given, the lookup waits for an unreachable database; otherwise that is an error
   */
  abstract keepParts(parts: readonly Part[], owner: TaskScope, signal?: AbortSignal): Promise<Part[]>;

  /** Opens a restorer for Parts that are recorded right away. */
  abstract restorer(owner: TaskScope, signal: AbortSignal): PartRestorer;

  /**
   * Restores Parts for longer work like `PartRestorer.restoreParts`, but within a separate memory limit.
   * @throws as `PartRestorer.restoreParts`
   */
  abstract holdParts(parts: readonly Part[], owner: TaskScope, signal: AbortSignal): Promise<HeldParts>;
}

/** Scopes of the caller of a request, and the headers of the request with names in lower case. */
interface InboundCall {
  readonly permissions: ReadonlySet<string>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Context of a call: who calls, and how. The transport creates it once per request. */
export interface CallContext {
  /** Tenant and owner of everything that this call creates and may see. */
  scope: TaskScope;
  /** Path of the agent that received the request. */
  agent: string;
  /** URIs of the extensions that the caller activated. */
  extensions: readonly string[];
  /** Base URL under which the caller reached Parley, without a trailing slash. */
  baseUrl: string;
  /** Protocol version of the caller if it is A2A 0.3; absent for 1.0. */
  protocolVersion?: '0.3';
  /**
   * Calling Task, its reference for the call (`node#attempt`) and the token of its claim. Set if a Task of this process
   * calls in-process. If the claim of the calling Task has another token when the call arrives, no child Task is
   * created.
   */
  parent?: { taskId: string; reference: string; token?: string };
  /** Revision that an in-process call asks for; absent for the newest. It never comes from a Message's metadata. */
  revision?: string;
  /** Signed agent revision that another replica asks for over HTTP. Only RevisionClaims may read it. */
  revisionClaim?: string;
  /** Value of `Idempotency-Key`: the same key and request of a caller at an agent give the same Task. */
  idempotencyKey?: string;
  /** True if the data of the request are inputs by name, as `/api` and MCP send them. Any other name is refused. */
  namesInputs?: true;
  /** Trace context of the call; `null` if the caller sent an unreadable one, so that a new trace begins. */
  trace?: TraceContext | null;
  /** Creates the id of a new Task; the pre-1.0 dialect uses `task-` and 16 hexadecimal digits. */
  newTaskId?: () => string;
  /** Scopes and headers of the caller. Set for requests to registered agents; absent for calls inside this process. */
  inbound?: InboundCall;
  /**
   * Calls `done` once when the response has been sent or the caller has disconnected. Absent if the response stays in
   * this process.
   * @returns `false` if the caller has already disconnected; `done` is not called then
   */
  whenAnswered?: (done: () => void) => boolean;
  /**
   * Admits each large log before it is read for the response. Absent for calls inside this process, which have no
   * limit.
   */
  admission?: LogAdmission;
  /**
   * Calls `done` once when the client disconnects before the response. Absent if `whenAnswered` reports that.
   * @returns `false` if the client has already disconnected
   */
  whenGone?: (done: () => void) => boolean;
  /**
   * Jobs to enqueue in the commit that accepts the Message. They are not enqueued if the Message is rejected or
   * repeated.
   */
  jobs?: readonly Job[];
}

/** Members of a call that the metadata of a new Task depends on. A `revisionClaim` has been verified before. */
export type AcceptingCall = Pick<CallContext, 'scope' | 'parent' | 'revisionClaim'>;

/**
 * Context of one execution of an agent. `task` holds the earlier conversation: the caller sends only the new Message.
 */
export interface RequestContext {
  readonly taskId: string;
  readonly contextId: string;
  /** Token of the claim that this execution holds. */
  readonly token: string;
  /** Message to process. */
  readonly userMessage: Message;
  /** The Task before `userMessage`, with its whole history; `null` on a Task's first turn. */
  readonly task: Task | null;
  readonly call: CallContext;
  /** Trace of this turn; absent if the turn is not traced. Outgoing calls send its headers. */
  readonly trace?: TurnTrace;
  /** Media types that the caller accepts; absent if it named none, and after a recovery. */
  readonly acceptedOutputModes?: readonly string[] | undefined;
  /** Metadata of the request (`SendMessageRequest.metadata`). */
  readonly metadata: SendMessageRequest['metadata'];
  /** Signal that aborts on cancel, on shutdown and when the claim is lost. Stop side effects then. */
  readonly signal: AbortSignal;
  /**
   * Number of events that the log has after the turn's Message: recorded before a process died, or before the Task was
   * parked. 0 for a new turn. A restarted executor continues after these events and must not yield them again.
   */
  readonly recovered: number;
  /** Returns all recorded events of this Task, for an executor that recovers. */
  readTaskLog(): Promise<readonly TaskEvent[]>;
  /** Access to places (cursors) in a long log; absent if no store holds the log. */
  readonly places?: LogPlaces;
  /**
   * Checks that the Task's log has room for an event, which must be the next one that is yielded. For executors that
   * can yield a smaller event instead. Other executors just yield: if the event is too large, the Task ends FAILED.
   * @throws ContentTooLarge
   */
  assertRecordable(event: TaskEvent): void;
  /**
   * True once the Task has rejected a yielded event as too large, which ends the Task. For executors that must cancel
   * Tasks elsewhere when their generator returns. Absent if events are never rejected.
   */
  isRefused?(): boolean;
  /**
   * Resolves when every event yielded so far is durable. Await it before a side effect that must not happen without a
   * record of it.
   */
  flush(): Promise<void>;
  /**
   * Resolves once the store has confirmed that this execution still holds the claim. Await it before a side effect that
   * happens some time after the last event: another replica may have adopted the Task while this process was frozen.
   * @throws ExecutionInterrupted if another replica has the Task; TaskCanceled if the Task is canceled
   */
  assertClaimHeld(): Promise<void>;
  /**
   * Returns Parts as the log will store them, with large bytes as files (see PartKeeper). For executors that use the
   * Parts that they yield; other executors just yield. Absent if this process stores no files.
   */
  keepParts?(parts: readonly Part[]): Promise<Part[]>;
  /**
   * Opens a restorer for Parts that are recorded with their bytes, for readers of `raw`. Absent if `keepParts` is
   * absent.
   */
  partRestorer?(): PartRestorer;
  /**
   * Restores the bytes of Parts for longer work, and waits until there is memory for them. The executor disposes of the
   * Parts when the work is done. Absent if `keepParts` is absent.
   */
  holdParts?(parts: readonly Part[]): Promise<HeldParts>;
}

/**
 * Cursors (LogPlace) in the log of an execution. They show how full the log is, and whether it still has the events
 * that the executor folded.
 */
export interface LogPlaces {
  /**
   * Resolves when everything recorded is durable, with the place of the last event of this execution and the bytes of
   * the log; with `undefined` if the execution has recorded nothing.
   * @throws ClaimLost if another replica has the Task
   */
  readLast(): Promise<{ place: LogPlace; bytes: number } | undefined>;
  /**
   * Returns the bytes of the log and its limit once it has passed three quarters of the limit; otherwise `undefined`.
   */
  nearlyFull(): { bytes: number; limit: number } | undefined;
  /**
   * Resolves with the recorded events after a place; with `undefined` if the log has a different event at that place.
   */
  readAfter(place: LogPlace): Promise<readonly RecordedEvent[] | undefined>;
}

/**
 * Error after this process has stopped executing a Task (shutdown, lost claim or parked Task). Another process executes
 * the Task, or will.
 */
export class ExecutionInterrupted extends TaskChangedHands {
  override readonly name = 'ExecutionInterrupted';
}

/** Reason of the abort signal if a caller canceled the Task. A shutdown aborts with ExecutionInterrupted. */
export class TaskCanceled extends Error {
  override readonly name = 'TaskCanceled';
  constructor() {
    super('The task was canceled');
  }
}

/**
 * Does the work of an agent: `execute` yields the events of one Task, then returns.
 * - If the Task has neither a terminal nor a waiting state at the return and is not parked, it ends FAILED.
 * - A thrown error is logged; callers get one safe sentence.
 * - An executor with `recovery: 'restart'` may park the Task with a status that has a time (`parks`). At that time any
 *   process calls `execute` again, as after a crash.
 */
export abstract class AgentExecutor {
  /**
   * Behavior after a crash. `restart`: `execute` is called again with `recovered` set. `fail`: the Task ends FAILED
   * with a reason.
   */
  readonly recovery: 'restart' | 'fail' = 'fail';

  /**
   * True if executing has no effect besides its events. Such an executor may start before its Task is durable, even if
   * the Task is then rejected.
   */
  readonly isPure: boolean = false;

  /**
   * True if the agent's log stores large bytes as the agent sent them instead of as files, because the agent reads them
   * from the log.
   */
  get keepsBytes(): boolean {
    return false;
  }

  /**
   * True if the agent's Tasks call other agents: if a Task ends without the executor, its child Tasks are ended too.
   */
  readonly callsAgents: boolean = false;

  readonly declares?: AgentDeclaration;

  /**
   * Returns the input that the agent accepts at the moment, if more than its config decides that. Called for each card
   * and Message.
   */
  readonly currentInput?: (tenant: string) => Promise<CurrentInput>;

  /** Returns the origins of the agent's models; absent if the agent calls no model itself. */
  readonly modelOrigins?: (tenant: string) => Promise<readonly string[]>;

  /**
   * Text for a Message without text that is sent to the alias of the executor's node; "Execute node <id>" by default.
   */
  readonly order?: string;

  /**
   * Milliseconds that a canceled execution may continue to end the Task itself (a workflow cancels its children first).
   * 0: the Task is CANCELED immediately and later events of the execution are dropped.
   */
  readonly cancelGrace: number = 0;

  /** Operation name of the turn's trace span; `invoke_agent` by default. */
  readonly spanOperation?: 'invoke_workflow';

  abstract execute(context: RequestContext): AsyncIterable<TaskEvent>;

  /**
   * Returns a direct answer that needs no Task (section 3.1.1). Called before a Task is created; `undefined` to
   * execute.
   */
  replyDirectly?(message: Message, call: CallContext): Message | undefined;

  /**
   * Returns the direct Message that a settled Task stands for, if the agent answered without a Task. The caller of a
   * new Task gets that Message in place of the Task. An executor with this method may take a moment for its first
   * event: streams wait up to two seconds for it.
   */
  directReply?(task: Task): Message | undefined;

  /**
   * Looks up the media types that the agent reads at the moment, for cards and for files; `undefined` if it may read
   * any. Absent if `declares` or `currentInput` has them.
   */
  findInputModes?(tenant: string): Promise<readonly string[] | undefined>;

  /** Creates the id of a new Task. Absent if the usual ids suit the agent. */
  newTaskId?(): string;

  /** Returns metadata for a new Task, readable by its caller. */
  taskMetadata?(request: SendMessageRequest, call: AcceptingCall): JsonObject;

  /**
   * Returns the trace spans that an event of the executor's log begins or ends. Pure: depends on the event alone. By
   * default, the spans of model and tool calls that agents' logs report.
   */
  spanSteps?(event: TaskEvent): readonly SpanStep[];

  /** Rejects a Message before anything is written, by throwing an A2AError. */
  checkRequest?(request: SendMessageRequest, call: CallContext): void | Promise<void>;
}

/**
 * Capabilities of one agent. `false` disables a capability of the service; extensions are added to those of the
 * service.
 */
export type DeclaredCapabilities = Pick<AgentCapabilities, 'streaming' | 'pushNotifications' | 'extensions'>;

/** Input that an agent accepts at the moment. */
export interface CurrentInput {
  /** Input modes that replace the declared ones; absent if the agent has the default modes of its kind. */
  inputModes?: string[];
  changedAt?: Date;
}

/** Content of an agent's card that differs from the default card of agents of its kind. */
export interface AgentDeclaration {
  /** Description for the agent's skill, as one sentence. */
  does?: string;
  inputModes?: string[];
  outputModes?: string[];
  capabilities?: DeclaredCapabilities;
}

/** Returns a signal that aborts when the caller disconnects; `undefined` if the response stays in this process. */
export function callerGone({
  whenAnswered,
  whenGone = whenAnswered,
}: Pick<CallContext, 'whenAnswered' | 'whenGone'>): AbortSignal | undefined {
  return whenGone && goneSignal(whenGone);
}

/** Name of the job that ends the child Tasks of a Task. */
export const END_CHILDREN = 'tasks.end-children';

const PAYLOAD = z.object({ taskId: z.string() });

/** Returns the job that cancels the child Tasks of a Task that ended without its executor. */
export function endChildrenJob(taskId: string): Job {
  return { name: END_CHILDREN, key: `${END_CHILDREN}/${taskId}`, payload: { taskId } };
}

/** Returns the Task of a job of `endChildrenJob`. @throws if the payload has another shape */
export function readEndChildren(payload: unknown): { taskId: string } {
  return PAYLOAD.parse(payload);
}
