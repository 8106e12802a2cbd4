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
  type TaskReference,
} from '#libs/protocol';
import type { TraceContext } from '#libs/service';
import type { LogAdmission, LogPlace, PromptLog, RecordedEvent, RelayedTurn, TaskEvent, TaskScope } from '#libs/tasks';
import type { TurnTrace } from '#libs/tracing';
import type { HeldParts, PartRestorer } from './part-keeper.js';
import type { SpanStep } from './span-step.js';

/** Scopes of the caller of a request, and the request's headers with their names in lower case. */
interface InboundCall {
  readonly permissions: ReadonlySet<string>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Context of a call to an agent of this service: the caller, and properties of its request. The transport creates it
 * once per request.
 */
export interface CallContext {
  /** Tenant and owner of everything that this call creates and may see. */
  scope: TaskScope;
  /** Path of the agent that received the request. */
  agent: string;
  /** URIs of the extensions that the caller activated. */
  extensions: readonly string[];
  /** Base URL that the caller used to reach Parley, without a trailing slash. */
  baseUrl: string;
  /** Protocol version of the caller if it is A2A 0.3; absent for 1.0. */
  protocolVersion?: '0.3';
  /**
   * Calling Task, if a Task of this service makes the call; absent for any other caller. If the claim on the calling
   * Task has another token than `token` when the call arrives, no child Task is created.
   * - `taskId`: id of the calling Task
   * - `reference`: name of the call in the calling Task (`node#attempt`)
   * - `token`: token of the claim (the right to write the calling Task)
   */
  parent?: { taskId: string; reference: string; token?: string };
  /** Revision that an in-process call asks for; absent: the newest. It never comes from a Message's metadata. */
  revision?: string;
  /** Signed text in which another replica asks for a revision over HTTP. Only RevisionClaims may read it. */
  revisionClaim?: string;
  /** Value of `Idempotency-Key`: requests of a caller to an agent with the same key and content give the same Task. */
  idempotencyKey?: string;
  /**
   * True if the data of the request contain the agent's inputs, each under its name, as `/api` and MCP send them. A
   * name that is no input is then refused.
   */
  namesInputs?: true;
  /**
   * Trace context of the call.
   * - Absent: the trace context in the Message's metadata applies.
   * - `null`: the trace context of the call is unreadable, and a new trace begins, whatever the metadata contain.
   */
  trace?: TraceContext | null;
  /**
   * Creates the id of a new Task, as the caller's dialect needs it (pre-1.0: `task-` and 16 hexadecimal digits);
   * absent: the usual ids.
   */
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
   * Admission that each large log needs before it is read for the response, so that such reads together stay within a
   * memory limit. Absent for calls inside this process, which have no such limit.
   */
  admission?: LogAdmission;
  /**
   * Calls `done` once when the client disconnects before the response. Absent if `whenAnswered` calls its `done` in
   * that case, too.
   * @returns `false` if the client has already disconnected
   */
  whenGone?: (done: () => void) => boolean;
  /**
   * Jobs to enqueue in the commit that accepts the Message. They are not enqueued if the Message is rejected or
   * repeated.
   */
  jobs?: readonly Job[];
}

/** Members of a call on which the metadata of a new Task depends. The `revisionClaim` has already been verified. */
export type AcceptingCall = Pick<CallContext, 'scope' | 'parent' | 'revisionClaim'>;

/**
 * Context of one turn of an agent: one execution, from a Message until the Task ends, waits or is parked. `task` has
 * the earlier conversation, since the caller sends only the new Message.
 */
export interface RequestContext {
  readonly taskId: string;
  readonly contextId: string;
  /** Token of the claim that this execution holds on the Task: the exclusive right to write the Task. */
  readonly token: string;
  /** Message that the executor must process. */
  readonly userMessage: Message;
  /** The Task before `userMessage`, with its whole history; `null` on a Task's first turn. */
  readonly task: Task | null;
  readonly call: CallContext;
  /** Trace of this turn; absent if the turn is not traced. Outgoing calls send its headers. */
  readonly trace?: TurnTrace;
  /** Record of the requests to models and of their answers; absent if no such record is kept. */
  readonly prompts?: PromptLog | undefined;
  /** Media types that the caller accepts; absent if it named none, and after a recovery by another process. */
  readonly acceptedOutputModes?: readonly string[] | undefined;
  /**
   * Turn that a new Task of a registered agent begins at its remote agent (see `AgentExecutor.relayedTurn`). Present
   * only in the execution that created the Task: it stored the turn in the same commit.
   */
  readonly relayed?: RelayedTurn | undefined;
  /** Metadata of the request (`SendMessageRequest.metadata`). */
  readonly metadata: SendMessageRequest['metadata'];
  /**
   * Signal that aborts on cancel, on shutdown, and when another replica has taken over the Task. Stop side effects
   * then.
   */
  readonly signal: AbortSignal;
  /**
   * Number of events that the log has after the turn's Message: recorded before a process died, or before the Task was
   * parked (released until a time). 0 for a new turn. A restarted executor continues after these events and must not
   * yield them again.
   */
  readonly recovered: number;
  /** Returns all recorded events of this Task, for an executor that recovers. */
  readTaskLog(): Promise<readonly TaskEvent[]>;
  /** Access to positions (LogPlace) in the Task's own log, which may be long; absent if no store holds the log. */
  readonly places?: LogPlaces;
  /**
   * Checks that the Task's log has room for an event, which must be the next one that is yielded. Meant for executors
   * that can yield a smaller event instead. Without this check, an event that is too large ends the Task as FAILED.
   * @throws ContentTooLarge
   */
  assertRecordable(event: TaskEvent): void;
  /**
   * True once the Task has rejected a yielded event as too large, which ends the Task. The executor's generator then
   * returns early; an executor that has called agents elsewhere must then cancel their Tasks. Absent if events are
   * never rejected.
   */
  isRefused?(): boolean;
  /**
   * Resolves when every event yielded so far is durable. Await it before a side effect that must not happen without a
   * record of it.
   */
  flush(): Promise<void>;
  /**
   * Resolves once the store has confirmed that this execution still holds the claim: the exclusive right to write the
   * Task. Await it before a side effect that happens some time after the last event, because another replica may have
   * adopted the Task while this process was suspended.
   * @throws ExecutionInterrupted if another replica has the Task
   * @throws TaskCanceled if the Task is canceled
   */
  assertClaimHeld(): Promise<void>;
  /**
   * Ends this execution without an event, after the executor itself has parked the Task: everything recorded is
   * durable, the claim on the Task is released, and the Task's row names the time at which any process resumes the
   * Task. Absent if no store holds the Task.
   * @throws ExecutionInterrupted always
   */
  leaveTask?(): never;
  /**
   * Returns Parts as the log will store them, with large bytes as files (see PartKeeper). An executor needs this method
   * only if it also uses the Parts that it yields. Absent if this process stores no files.
   */
  keepParts?(parts: readonly Part[]): Promise<Part[]>;
  /** Opens a restorer for Parts that are recorded with their bytes. Absent if `keepParts` is absent. */
  partRestorer?(): PartRestorer;
  /**
   * Restores the bytes of Parts for longer work, and waits until there is memory for them. The executor disposes of the
   * Parts when the work is done. Absent if `keepParts` is absent.
   */
  holdParts?(parts: readonly Part[]): Promise<HeldParts>;
}

/**
 * Positions (LogPlace) in the log of an execution's Task. They show how full the log is, and whether it still has the
 * events that the executor has applied to its state.
 */
export interface LogPlaces {
  /**
   * Resolves when everything recorded so far is durable, with the position of the last event of this execution and
   * the number of bytes of the log; with `undefined` if the execution has recorded nothing.
   * @throws ClaimLost if another replica has the Task
   */
  readLast(): Promise<{ place: LogPlace; bytes: number } | undefined>;
  /**
   * Returns the size and the limit of the log in bytes, once the log has passed three quarters of its limit; otherwise
   * `undefined`.
   */
  nearlyFull(): { bytes: number; limit: number } | undefined;
  /** Resolves with the events after a position; with `undefined` if the log has a different event there. */
  readAfter(place: LogPlace): Promise<readonly RecordedEvent[] | undefined>;
}

/**
 * Error with which work on a Task ends when this process stops executing it: at shutdown, after another replica has
 * taken over the Task, or because the Task only waits for a time (is parked). Another process executes the Task, now or
 * later.
 */
export class ExecutionInterrupted extends TaskChangedHands {
  override readonly name = 'ExecutionInterrupted';
}

/**
 * Reason with which an executor's signal aborts if a caller canceled the Task. (A shutdown aborts it with
 * ExecutionInterrupted.)
 */
export class TaskCanceled extends Error {
  override readonly name = 'TaskCanceled';
  constructor() {
    super('The task was canceled');
  }
}

/**
 * Does the work of an agent: `execute` yields the events of one Task, then returns.
 * - If `execute` returns while the Task is neither in a terminal or waiting state nor parked, the Task ends FAILED.
 * - If `execute` throws, the error is logged, the Task ends FAILED, and callers get one sentence without internals.
 * - An executor with `recovery: 'restart'` may park the Task, so that no process executes it until a time: it yields a
 *   status with that time (`parks`). At that time any process calls `execute` again, as after a crash.
 */
export abstract class AgentExecutor {
  /**
   * Behavior after a crash. `restart`: `execute` is called again with `recovered` set. `fail`: the Task ends FAILED
   * with a reason.
   */
  readonly recovery: 'restart' | 'fail' = 'fail';

  /**
   * True if executing has no effect besides the yielded events. Such an executor may start before its Task is
   * durable; if the Task is then rejected, its work is dropped.
   */
  readonly isPure: boolean = false;

  /** True if large bytes stay in the log instead of becoming files, because the agent reads them from the log. */
  get keepsBytes(): boolean {
    return false;
  }

  /**
   * True if the agent's Tasks call other agents. If such a Task ends without its executor (a limit, an error), its
   * child Tasks are canceled.
   */
  readonly callsAgents: boolean = false;

  readonly declares?: AgentDeclaration;

  /**
   * Returns the input that the agent accepts at the moment. Called for each card and each Message. Absent if the
   * agent's config alone decides that.
   */
  readonly currentInput?: (tenant: string) => Promise<CurrentInput>;

  /** Returns the origins of the agent's models; absent if the agent calls no model itself. */
  readonly modelOrigins?: (tenant: string) => Promise<readonly string[]>;

  /**
   * Text that replaces an empty text in a Message to the alias of the node (`nodes/{id}`); absent: "Execute node <id>".
   */
  readonly order?: string;

  /**
   * Milliseconds in which an execution may end a canceled Task itself (a workflow cancels its child Tasks first).
   * After that time, or immediately if 0, the Task is CANCELED, and later events of the execution are dropped.
   */
  readonly cancelGrace: number = 0;

  /** Operation name of the turn's trace span; `invoke_agent` by default. */
  readonly spanOperation?: 'invoke_workflow';

  abstract execute(context: RequestContext): AsyncIterable<TaskEvent>;

  /**
   * Returns a direct Message as the answer, if the request needs no Task (section 3.1.1); `undefined` to create a
   * Task and execute. Called before a Task is created. Absent: every request gets a Task.
   */
  replyDirectly?(message: Message, call: CallContext): Message | undefined;

  /**
   * Returns the direct Message that an ended Task records, if a remote agent answered with a Message instead of a Task;
   * `undefined` for any other Task. The caller that created the Task gets the Message in place of the Task. The first
   * event of an executor with this method may take a moment: streams wait up to two seconds for it.
   */
  directReply?(task: Task): Message | undefined;

  /**
   * Looks up the media types that the agent reads at the moment, for cards and for files; `undefined` if the agent may
   * read any media type. Absent if `declares` or `currentInput` lists the media types.
   */
  findInputModes?(tenant: string): Promise<readonly string[] | undefined>;

  /** Creates the id of a new Task; absent: the Task gets a usual id. */
  newTaskId?(): string;

  /** Returns metadata to add to a new Task. The Task's caller can read this metadata. */
  taskMetadata?(request: SendMessageRequest, call: AcceptingCall): JsonObject;

  /**
   * Returns the trace spans that an event of the executor's log begins or ends. Depends on the event alone. By
   * default, these are the spans of model and tool calls that agents' logs report.
   */
  spanSteps?(event: TaskEvent): readonly SpanStep[];

  /**
   * Returns the first turn that a new Task of a registered agent begins at its remote agent. This turn is stored in the
   * commit that creates the Task, and the execution finds it in `RequestContext.relayed`. Absent for agents whose work
   * is done in this service.
   */
  relayedTurn?(request: SendMessageRequest, call: CallContext, reference: TaskReference): RelayedTurn;

  /** Checks a Message before anything is written. @throws A2AError to reject the Message */
  checkRequest?(request: SendMessageRequest, call: CallContext): void | Promise<void>;
}

/**
 * Capabilities that one agent declares. `false` turns off a capability that the service has; `extensions` are added to
 * the extensions of the service.
 */
export type DeclaredCapabilities = Pick<AgentCapabilities, 'streaming' | 'pushNotifications' | 'extensions'>;

/** Input that an agent accepts at the moment. */
export interface CurrentInput {
  /** Input modes that replace the declared ones; absent if the agent has the default modes of its kind. */
  inputModes?: string[];
  changedAt?: Date;
}

/** Members of an agent's card that differ from the default card for agents of its kind. */
export interface AgentDeclaration {
  /** Description of the agent's skill, as one sentence; absent: the default. */
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
