import { Logger } from '@nestjs/common';
import {
  type AgentCatalog,
  agentOrGone,
  type CallContext,
  endChildrenJob,
  REVISION_KEY,
  type ServedAgent,
} from '#libs/agents';
import type { ServiceAddress } from '#libs/http-server';
import type { ReplicaLife } from '#libs/postgres';
import { isTerminalState, isWaitingState, type Message, statusUpdate } from '#libs/protocol';
import {
  foldEvents,
  type RecordedEvent,
  type StoredTask,
  type TaskClaim,
  type TaskHeader,
  type TaskLog,
  type TaskRecorder,
  type TaskStore,
} from '#libs/tasks';
import type { ExecutionRegistry } from './execution-registry.js';

/** Maximum bytes of all logs that are being read at the same time; a single log may be larger. */
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** Limits concurrent reads of long logs by their total bytes. Reads start in the order of their requests. */
export class LogReads {
  private bytes = 0;
  private readonly waiting: { bytes: number; begin: () => void }[] = [];

  /** Runs a read of `bytes` bytes as soon as the other reads in progress leave enough of the limit. */
  async runRead<T>(bytes: number, read: () => Promise<T>): Promise<T> {
    if (this.waiting.length > 0 || !this.hasRoomFor(bytes))
      await new Promise<void>((begin) => this.waiting.push({ bytes, begin }));
    else this.bytes += bytes;
    try {
      return await read();
    } finally {
      this.bytes -= bytes;
      this.beginNext();
    }
  }

  private hasRoomFor(bytes: number): boolean {
    return this.bytes === 0 || this.bytes + bytes <= BYTES_AT_ONCE;
  }

  private beginNext(): void {
    for (let [next] = this.waiting; next && this.hasRoomFor(next.bytes); [next] = this.waiting) {
      this.waiting.shift();
      this.bytes += next.bytes;
      next.begin();
    }
  }
}

/**
 * Number of failed attempts to find a Task's agent after which a Task with a cancel request is canceled without the
 * agent.
 */
const TRIES_BEFORE_CANCEL = 3;
/** Approximate bytes of one page of a long log. Parsing a page blocks all other work of this process. */
const PAGE_BYTES = 1024 * 1024;
/** Maximum number of events of one page of a long log. */
const PAGE_EVENTS = 1_000;

export interface TakeUpServices {
  store: TaskStore;
  recorder: TaskRecorder;
  registry: ExecutionRegistry;
  catalog: AgentCatalog;
  replica: ReplicaLife;
  address: ServiceAddress;
}

/**
 * Handles Tasks that this replica has claimed (it has the right to write them) and that no process executes. Each Task
 * is resumed, released, or ended with a reason.
 */
export class TaskAdoption {
  private readonly logger = new Logger('TaskRecovery');
  private readonly reads = new LogReads();

  constructor(private readonly services: TakeUpServices) {}

  /**
   * Adopts a Task that this replica has claimed. Resolves when the Task has an execution, has ended or was released.
   * @param failures number of failed attempts before this one
   * @param read the Task's header and, if the log is short, its log; `undefined` if the Task was deleted
   * @throws any error on the way; the Task is then unchanged, and the claim remains for another attempt
   */
  async takeUp(claim: TaskClaim, failures: number, read: TaskLog | undefined): Promise<void> {
    if (!read || !mustBeResumed(read.header)) return this.services.store.releaseClaim(claim);
    const events = read.events ?? (await this.readTaskLog(read.header));
    await this.continueTask(claim, failures, { stored: toStored(read.header, events), events, due: false });
  }

  /**
   * Resumes a parked Task that this replica has claimed because its wake time has come.
   * @throws any error on the way; the Task is then unchanged, and the claim remains for another attempt
   */
  async takeUpDue(claim: TaskClaim, stored: StoredTask): Promise<void> {
    await this.continueTask(claim, 0, { stored, events: await this.readInTurn(stored.header), due: true });
  }

  private async continueTask(claim: TaskClaim, failures: number, { stored, events, due }: ReadTask): Promise<void> {
    // If this process was frozen after it took the claim, another one may have ended the Task before it was read.
    if (isTerminalState(stored.task.status.state)) return this.services.store.releaseClaim(claim);
    const agent = await this.agentOf(stored, failures);
    // No executor was working on the Task, so there is nothing to resume.
    const { state, cancelRequested } = stored.header;
    const isCanceledAtRest = cancelRequested && (due || isWaitingState(state));
    if (agent && isCanceledAtRest) this.cancelResting(agent, stored, claim);
    else if (agent?.executor.recovery === 'restart') this.restartTask(agent, stored, claim, events);
    else await this.failTask(stored, claim);
  }

  /**
   * Reads a log when LogReads allows it: many Tasks may be due at the same time, and LogReads limits the bytes of all
   * logs that are being read.
   */
  private readInTurn(header: TaskHeader): Promise<RecordedEvent[]> {
    return this.reads.runRead(header.size?.log ?? 0, () => this.readTaskLog(header));
  }

  private async readTaskLog({ taskId, lastSequence, size }: TaskHeader): Promise<RecordedEvent[]> {
    const usual = (size?.log ?? 0) / Math.max(lastSequence, 1);
    const limit = Math.min(PAGE_EVENTS, Math.max(1, Math.floor(PAGE_BYTES / Math.max(usual, 1))));
    const log: RecordedEvent[] = [];
    while (log.length < lastSequence) {
      const events = await this.services.store.readEvents(
        taskId,
        log.length,
        Math.min(limit, lastSequence - log.length),
      );
      if (events.length === 0) break;
      for (const event of events) log.push(event);
    }
    return log;
  }

  /**
   * Returns the agent of a Task, or a placeholder if the agent no longer exists. Returns `undefined` if the lookup
   * fails, and a cancel request has already waited for several attempts; the Task is then canceled without its agent.
   * @throws the error of the lookup in any other case
   */
  private async agentOf({ header, task }: StoredTask, failures: number): Promise<ServedAgent | undefined> {
    const { taskId, agent } = header;
    const accepted = task.metadata?.[REVISION_KEY];
    const revision = typeof accepted === 'string' ? accepted : undefined;
    try {
      const catalog = this.services.catalog.inTenant(header.tenant);
      return await agentOrGone(() => catalog.resolveAgent(agent, revision), agent, revision);
    } catch (error) {
      if (failures < TRIES_BEFORE_CANCEL || !(await this.shallBeCanceled(taskId))) throw error;
      this.logger.warn({ err: error, taskId, agent }, 'A task was adopted without its agent');
      return undefined;
    }
  }

  private async shallBeCanceled(taskId: string): Promise<boolean> {
    return (await this.services.store.cancelRequests(this.services.replica.replicaId)).includes(taskId);
  }

  private restartTask(
    agent: ServedAgent,
    stored: StoredTask,
    claim: TaskClaim,
    events: readonly RecordedEvent[],
  ): void {
    const turn = lastTurn(events);
    const log = events.map(({ event }) => event);
    this.services.registry.recoverTurn({ agent, stored, token: claim.token, call: this.callOf(stored), log, ...turn });
  }

  private cancelResting(agent: ServedAgent, stored: StoredTask, { token }: TaskClaim): void {
    void this.services.registry.endCanceled({ agent, stored, token, call: this.callOf(stored) });
  }

  private async failTask(stored: StoredTask, claim: TaskClaim): Promise<void> {
    const recording = this.services.recorder.continueRecording(stored, claim.token);
    const canceled = await this.shallBeCanceled(claim.taskId);
    const sentence = 'The process that worked on this task stopped, and its agent cannot resume it.';
    const end = canceled
      ? statusUpdate(recording, 'TASK_STATE_CANCELED')
      : statusUpdate(recording, 'TASK_STATE_FAILED', sentence);
    recording.recordEvent({ ...end, jobs: [endChildrenJob(claim.taskId)] });
    await recording.flushEvents();
  }

  private callOf({ header }: StoredTask): CallContext {
    return {
      scope: { tenant: header.tenant, owner: header.owner },
      agent: header.agent,
      extensions: [],
      baseUrl: this.services.address.internalUrl,
      ...(header.parentTaskId !== undefined && {
        parent: { taskId: header.parentTaskId, reference: header.parentReference ?? '' },
      }),
    };
  }
}

/** Task to resume, with its log. */
interface ReadTask {
  stored: StoredTask;
  events: readonly RecordedEvent[];
  /** True if the Task was parked (waiting for a time), and claimed because that time has come. */
  due: boolean;
}

function toStored(header: TaskHeader, events: readonly RecordedEvent[]): StoredTask {
  const fold = foldEvents(events);
  if (!fold) throw new TypeError('The log of a claimed task holds no event');
  return { header, task: fold.toTask(), bytes: header.size?.log };
}

/**
 * True if an adopted Task must be resumed: it works, or it waits and either the time at which it resumes has come or it
 * has a cancel request. The caller releases the claim of any other Task.
 */
export function mustBeResumed({ state, wakeAt, cancelRequested }: TaskHeader): boolean {
  if (isWaitingState(state)) return cancelRequested ?? (wakeAt !== undefined && wakeAt.getTime() <= Date.now());
  return !isTerminalState(state);
}

/**
 * Returns the unfinished turn in a log: the last accepted Message, the state of the Task before that Message, and the
 * sequence of the event that accepted it.
 */
function lastTurn(events: readonly RecordedEvent[]): {
  userMessage: Message;
  task: StoredTask['task'] | null;
  acceptedAt: number;
} {
  const start = events.findLastIndex(({ event }) => 'task' in event || ('statusUpdate' in event && event.received));
  const opening = events[start];
  const message = opening && openingMessage(opening);
  if (!opening || !message) throw new Error('The log holds no message to work on');
  const before = events.slice(0, start);
  return { userMessage: message, task: foldEvents(before)?.toTask() ?? null, acceptedAt: opening.sequence };
}

function openingMessage({ event }: RecordedEvent): Message | undefined {
  if ('task' in event) return event.task.history?.at(-1);
  return 'statusUpdate' in event ? event.received : undefined;
}

/** Maximum number of short logs that are being read at the same time, by a few queries. */
const SHORT_AT_ONCE = 128;
/** Maximum number of long logs that are being read at the same time. */
const LONG_AT_ONCE = 8;
/** Maximum total bytes of the long logs that are being read at the same time; a single log may be larger. */
const LONG_BYTES_AT_ONCE = 8 * 1024 * 1024;

/** Claim (right to write a Task) whose Task must be adopted, with the number of failed attempts. */
export interface PendingClaim extends TaskClaim {
  failures: number;
}

/**
 * Function that adopts the Task of a claim: this replica resumes, releases or ends it. Never rejects. `read` is
 * `undefined` if the Task was deleted, and has no events if the log is long.
 */
export type TakeUpClaim = (claim: PendingClaim, read: TaskLog | undefined) => Promise<void>;

/**
 * Queue of claims (rights to write Tasks) whose Tasks this replica adopts.
 * - Tasks with short logs come first. Many of them are read with one query, together with their logs. Tasks with long
 *   logs wait for all others; the shortest of these logs comes first.
 * - Concurrent reads are limited in number and bytes. The length of the queue is not limited, because its Tasks are
 *   already claimed.
 */
export class TakeUpQueue {
  private readonly short: PendingClaim[] = [];
  /** Claims whose Tasks have long logs, from the longest to the shortest log; the next claim is taken from the end. */
  private readonly long: { claim: PendingClaim; read: TaskLog; bytes: number }[] = [];
  private shortUnderWay = 0;
  private longUnderWay = 0;
  private longBytes = 0;
  private stopped = false;
  private idleListeners: (() => void)[] = [];

  /**
   * @param takeUp adopts the Task of a claim, once its log was read
   * @param failed called for a claim whose Task could not be read
   * @param mustBeResumed returns true for a Task that must be resumed, so that its log is needed
   */
  constructor(
    private readonly store: Pick<TaskStore, 'readLog'>,
    private readonly takeUp: TakeUpClaim,
    private readonly failed: (claim: PendingClaim, error: unknown) => void,
    private readonly mustBeResumed: (header: TaskHeader) => boolean,
  ) {}

  add(claims: readonly PendingClaim[]): void {
    if (this.stopped) return;
    for (const claim of claims) this.short.push(claim);
    this.startNext();
  }

  /**
   * Stops the queue: no further Task is adopted. Another replica adopts the Tasks that remain in the queue, with this
   * replica's other Tasks.
   */
  stop(): void {
    this.stopped = true;
    this.short.length = 0;
    this.long.length = 0;
    this.startNext();
  }

  /** Resolves when the queue is empty and no Task is being adopted. */
  async whenIdle(): Promise<void> {
    if (!this.isIdle) await new Promise<void>((resolve) => this.idleListeners.push(resolve));
  }

  private get isIdle(): boolean {
    return this.short.length + this.long.length + this.shortUnderWay + this.longUnderWay === 0;
  }

  private startNext(): void {
    while (!this.stopped && this.shortUnderWay < SHORT_AT_ONCE && this.short.length > 0)
      this.startShort(this.short.shift()!);
    if (this.short.length + this.shortUnderWay === 0) while (this.mayStartLong()) this.startLong();
    if (this.isIdle) for (const resolve of this.idleListeners.splice(0)) resolve();
  }

  private startShort(claim: PendingClaim): void {
    this.shortUnderWay += 1;
    void this.lookAt(claim).finally(() => {
      this.shortUnderWay -= 1;
      this.startNext();
    });
  }

  private async lookAt(claim: PendingClaim): Promise<void> {
    let read: TaskLog | undefined;
    try {
      read = await this.store.readLog(claim.taskId);
    } catch (error) {
      return this.failed(claim, error);
    }
    if (read && !read.events && this.mustBeResumed(read.header)) this.postponeClaim(claim, read);
    else await this.takeUp(claim, read);
  }

  private postponeClaim(claim: PendingClaim, read: TaskLog): void {
    if (this.stopped) return;
    const bytes = read.header.size?.log ?? 0;
    const before = this.long.findIndex((other) => other.bytes <= bytes);
    this.long.splice(before < 0 ? this.long.length : before, 0, { claim, read, bytes });
  }

  private mayStartLong(): boolean {
    const next = this.long.at(-1);
    if (!next || this.longUnderWay >= LONG_AT_ONCE) return false;
    return this.longUnderWay === 0 || this.longBytes + next.bytes <= LONG_BYTES_AT_ONCE;
  }

  private startLong(): void {
    const { claim, read, bytes } = this.long.pop()!;
    this.longUnderWay += 1;
    this.longBytes += bytes;
    void this.takeUp(claim, read).finally(() => {
      this.longUnderWay -= 1;
      this.longBytes -= bytes;
      this.startNext();
    });
  }
}
