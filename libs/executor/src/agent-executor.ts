import type { Job } from '#libs/jobs';
import type { AgentCapabilities, JsonObject, Message, Part, SendMessageRequest, Task } from '#libs/protocol';
import type { TraceContext } from '#libs/service';
import type { LogAdmission, LogPlace, RecordedEvent, TaskEvent, TaskScope } from '#libs/tasks';
import type { TurnTrace } from '#libs/tracing';
import type { HeldParts, PartRestorer } from './part-keeper.js';
import type { SpanStep } from './spans/span-step.js';

/** Who calls, and how: built once by the transport. */
export interface CallContext {
  /** Owner and tenant of what this call creates and may see. */
  scope: TaskScope;
  /** The agent path the request came in at. */
  agent: string;
  /** Extension URIs that the caller activated. */
  extensions: readonly string[];
  /** The base URL under which the caller reached Parley, without a slash at the end. */
  baseUrl: string;
  /** The caller speaks A2A 0.3; absent: 1.0. */
  protocolVersion?: '0.3';
  /**
   * Set when a Task of this process calls in-process: the calling Task, its reference (`node#attempt`), and the token of
   * the claim that it calls with. Nothing is made for a Task that has another claim by then.
   */
  parent?: { taskId: string; reference: string; token?: string };
  /** The revision that an in-process call asks for; a Message's own metadata never does. Absent: the newest. */
  revision?: string;
  /** The same as a replica says it over the wire: to be believed only as RevisionClaims reads it. */
  revisionClaim?: string;
  /** `Idempotency-Key`: the same key and request of a caller at an agent is the same Task. */
  idempotencyKey?: string;
  /** Where the call stands in a trace; `null`: it said so in a way that cannot be read, and a new trace begins. */
  trace?: TraceContext | null;
  /** Makes the id of a new Task; the pre-1.0 dialect has its own, `task-` and 16 hexadecimal digits. */
  newTaskId?: () => string;
  /**
   * Calls back, once, when the answer to this call has gone, or its caller has. Absent where the answer stays in this
   * process. @returns `false` where the caller has left already: nobody is called back then
   */
  whenAnswered?: (done: () => void) => boolean;
  /** Lets large logs be read for the answer, each before it is. Absent where nothing limits them: inside of this process. */
  admission?: LogAdmission;
  /** Tells when the client has gone before it was answered, where that is another moment; false where it has already. */
  whenGone?: (done: () => void) => boolean;
  /** Enqueued in the commit that takes the Message in; not at all where it is refused, or the repeat of another. */
  jobs?: readonly Job[];
}

/** The part of a call that the metadata of a new Task depends on; a claim in it has been read before. */
export type AcceptingCall = Pick<CallContext, 'scope' | 'parent' | 'revisionClaim'>;

/**
 * One execution of an agent, as its executor sees it. What was said before is in `task`; callers never send it again.
 */
export interface RequestContext {
  readonly taskId: string;
  readonly contextId: string;
  /** The token of the claim that this execution works with. */
  readonly token: string;
  /** The Message to work on. */
  readonly userMessage: Message;
  /** The Task as it stood before `userMessage`, with its whole history; `null` on a Task's first turn. */
  readonly task: Task | null;
  readonly call: CallContext;
  /** The trace that this turn belongs to; absent where nobody traces. What is called for carries its headers. */
  readonly trace?: TurnTrace;
  /** The request's metadata (`SendMessageRequest.metadata`). */
  readonly metadata: SendMessageRequest['metadata'];
  /** Aborts on cancel and on shutdown; stop side effects then. */
  readonly signal: AbortSignal;
  /**
   * How many events of this turn were recorded before the process that executed it died; 0 unless recovering.
   * A restarted executor continues after them and must not yield them again.
   */
  readonly recovered: number;
  /** The recorded events of this Task's whole log, read from the store. For recovery. */
  log(): Promise<readonly TaskEvent[]>;
  /** For an executor with a long log; absent where the log is in no store. */
  readonly places?: LogPlaces;
  /**
   * Whether the Task takes this event, which is then the next one to be yielded. For an executor that has something else
   * to say where it does not; any other just yields, and its Task ends FAILED.
   * @throws ContentTooLarge
   */
  admit(event: TaskEvent): void;
  /**
   * True once the Task has not taken an event that was yielded, which ends it: nothing of that event is recorded. For an
   * executor whose generator is returned from then, and has Tasks elsewhere to cancel. Absent where it is never so.
   */
  isRefused?(): boolean;
  /** Resolves when every event yielded so far is durable. Await it before a side effect that must not be repeated unrecorded. */
  flush(): Promise<void>;
  /**
   * Resolves when the store has just said that the Task is still this execution's. Await it before a side effect that
   * comes some time after the last event: a process that stood still is taken over, and goes on where it was.
   * @throws ExecutionInterrupted where the Task is another replica's; TaskCanceled where it is canceled
   */
  prove(): Promise<void>;
  /**
   * Returns Parts as the log will have them, with large bytes as files (see PartKeeper). For an executor that works on with
   * what it yields; any other just yields. Absent where this process keeps no files.
   */
  keepParts?(parts: readonly Part[]): Promise<Part[]>;
  /** Opens the account of Parts that are recorded with their bytes, for readers of `raw`. Absent as `keepParts` is. */
  partRestorer?(): PartRestorer;
  /**
   * Restores Parts for work that lasts; waits until there is room for their bytes. The executor disposes of them when the
   * work is over. Absent as `keepParts` is.
   */
  holdParts?(parts: readonly Part[]): Promise<HeldParts>;
}

/** Tells an executor how full its log is, and that the log still is what the executor folded. */
export interface LogPlaces {
  /**
   * Resolves when all that was recorded is durable, with the last event of this execution as a place, and the bytes of the
   * log; `undefined` where the execution has recorded nothing.
   * @throws ClaimLost where the Task is another replica's
   */
  last(): Promise<{ place: LogPlace; bytes: number } | undefined>;
  /** Bytes of the log and of its limit, where it has passed three quarters of that: it takes no more events soon. */
  nearlyFull(): { bytes: number; limit: number } | undefined;
  /** Resolves with the recorded events after a place; `undefined` where the log has another event there. */
  after(place: LogPlace): Promise<readonly RecordedEvent[] | undefined>;
}

/** Whether the execution was cut because a caller canceled the Task (`signal.reason` is this), not by shutdown. */
export class TaskCanceled extends Error {
  override readonly name = 'TaskCanceled';
  constructor() {
    super('The task was canceled');
  }
}

/**
 * Does the work of an agent. Yields events of one Task and returns; ending in neither a terminal nor a waiting state
 * is FAILED. A thrown error is logged and reported to callers as one safe sentence. One that restarts may also park the
 * Task, with a status that says until when (`parks`): it is executed again then, in any process, as after a crash.
 */
export abstract class AgentExecutor {
  /**
   * `restart`: after a crash `execute` is called again with `recovered` set. `fail`: the Task ends FAILED with a reason.
   */
  readonly recovery: 'restart' | 'fail' = 'fail';

  /** Whether executing does nothing but yield events: such an executor may start before its Task is durable, and for nothing. */
  readonly isPure: boolean = false;

  /** True if the agent's log has large bytes as the agent said them, and not as files: it reads them there itself. */
  get keepsBytes(): boolean {
    return false;
  }

  /** True if the agent's Tasks call other agents: where one ends without the executor's word, what it called for is ended. */
  readonly callsAgents: boolean = false;

  readonly declares?: AgentDeclaration;

  /** What the agent takes at the moment, where that hangs on more than its config; asked with each card and Message. */
  readonly currentInput?: (tenant: string) => Promise<CurrentInput>;

  /** Returns the origins at which the agent's models are called; absent: the agent asks no model itself. */
  readonly modelOrigins?: (tenant: string) => Promise<readonly string[]>;

  /** The text of a Message without text at the alias of the executor's node, where it is not "Execute node <id>". */
  readonly order?: string;

  /**
   * How long, in milliseconds, a canceled execution may go on to end the Task itself (a workflow cancels its children
   * first). 0: the Task is CANCELED at once and the execution's later events are dropped.
   */
  readonly cancelGrace: number = 0;

  /** What the span of a turn is; an agent is invoked unless told otherwise. */
  readonly spanOperation?: 'invoke_workflow';

  abstract execute(context: RequestContext): AsyncIterable<TaskEvent>;

  /** A direct answer that needs no Task (section 3.1.1), decided before one is made; `undefined`: execute. */
  reply?(message: Message, call: CallContext): Message | undefined;

  /** Makes the id of a new Task, where the usual ids do not suit the agent. */
  newTaskId?(): string;

  /** Metadata for a new Task, readable by its caller. */
  taskMetadata?(request: SendMessageRequest, call: AcceptingCall): JsonObject;

  /**
   * What an event of the executor's log says of the calls that it makes, for the spans of the turn: pure, and from the
   * event alone. Absent: the calls of models and tools that agents' logs tell of.
   */
  spanSteps?(event: TaskEvent): readonly SpanStep[];

  /** Refuses a Message before anything is written, by throwing an A2AError. */
  check?(request: SendMessageRequest, call: CallContext): void | Promise<void>;
}

/** `false` turns off what every agent of the service can do; extensions stand beside those of the service. */
export type DeclaredCapabilities = Pick<AgentCapabilities, 'streaming' | 'pushNotifications' | 'extensions'>;

/** What an agent takes, as somebody said last. */
export interface CurrentInput {
  /** Instead of those that it declares; absent: those of all such agents. */
  inputModes?: string[];
  changedAt?: Date;
}

/** What the card of an agent says, where that is not what the cards of all such agents say. */
export interface AgentDeclaration {
  /** What the agent does, in a sentence for its skill. */
  does?: string;
  inputModes?: string[];
  outputModes?: string[];
  capabilities?: DeclaredCapabilities;
}
