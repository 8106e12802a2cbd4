import { Logger } from '@nestjs/common';
import type { ServiceAddress } from '#libs/http';
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
import type { AgentCatalog, ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';
import { endChildrenJob } from './end-children-job.js';
import type { ExecutionRegistry } from './execution-registry.js';
import { agentOrGone } from './gone-agent.js';
import { LogReads } from './log-reads.js';
import { REVISION_KEY } from './new-task.js';

/** Number of failed attempts to find an agent after which a Task with a cancel request is canceled without it. */
const TRIES_BEFORE_CANCEL = 3;
/** Approximate bytes and maximum number of events per page of a long log. A page is parsed without a break. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_EVENTS = 1_000;

export interface TakeUpServices {
  store: TaskStore;
  recorder: TaskRecorder;
  registry: ExecutionRegistry;
  catalog: AgentCatalog;
  replica: ReplicaLife;
  address: ServiceAddress;
}

/** Resumes Tasks that this replica claims and no process executes, or ends them with a reason. */
export class TaskAdoption {
  private readonly logger = new Logger('TaskRecovery');
  private readonly reads = new LogReads();

  constructor(private readonly services: TakeUpServices) {}

  /**
   * Adopts a Task. Resolves when the Task is executed, has ended or was released.
   * @param failures number of failed attempts before
   * @param read the Task's header and, if it is short, its log; `undefined` if the Task is gone
   * @throws any error on the way: nothing is decided then, and the claim remains
   */
  async takeUp(claim: TaskClaim, failures: number, read: TaskLog | undefined): Promise<void> {
    if (!read || !goesOn(read.header)) return this.services.store.releaseClaim(claim);
    const events = read.events ?? (await this.readTaskLog(read.header));
    await this.continueTask(claim, failures, { stored: toStored(read.header, events), events, due: false });
  }

  /**
   * Adopts a Task that was claimed because it is due.
   * @throws any error on the way: nothing is decided then, and the claim remains
   */
  async takeUpDue(claim: TaskClaim, stored: StoredTask): Promise<void> {
    await this.continueTask(claim, 0, { stored, events: await this.readInTurn(stored.header), due: true });
  }

  private async continueTask(claim: TaskClaim, failures: number, { stored, events, due }: ReadTask): Promise<void> {
    // If this process was frozen after it took the claim, another one may have ended the Task before it was read.
    if (isTerminalState(stored.task.status.state)) return this.services.store.releaseClaim(claim);
    const agent = await this.agentOf(stored, failures);
    // No executor was working on it, so there is nothing to resume.
    const rested = due || isWaitingState(stored.header.state);
    if (agent && rested && stored.header.cancelRequested) this.cancelResting(agent, stored, claim);
    else if (agent?.executor.recovery === 'restart') this.restartTask(agent, stored, claim, events);
    else await this.failTask(stored, claim);
  }

  /** Reads a log within the limit of concurrent bytes: any number of Tasks may be due at the same time. */
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
   * Returns the agent, or a stand-in if it no longer exists; `undefined` if a cancel request has waited long enough for
   * it.
   * @throws the error of the lookup, unless a cancel request has waited long enough
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
      this.logger.warn({ err: error, taskId, agent }, 'A task has to do without its agent');
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
    const sentence = 'The process that worked on this task stopped, and its agent cannot go on from there.';
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

/** Task to resume, as it was read. */
interface ReadTask {
  stored: StoredTask;
  events: readonly RecordedEvent[];
  /** True if it was claimed because it is due. */
  due: boolean;
}

function toStored(header: TaskHeader, events: readonly RecordedEvent[]): StoredTask {
  const fold = foldEvents(events);
  if (!fold) throw new TypeError('The log of a claimed task holds no event');
  return { header, task: fold.toTask(), bytes: header.size?.log };
}

/**
 * True if the Task is to be resumed. A Task that waits for its caller is released unless it is due or has a cancel
 * request.
 */
export function goesOn({ state, wakeAt, cancelRequested }: TaskHeader): boolean {
  if (isWaitingState(state)) return cancelRequested ?? (wakeAt !== undefined && wakeAt.getTime() <= Date.now());
  return !isTerminalState(state);
}

/**
 * Returns the unfinished turn: the last accepted Message, the Task before it, and the sequence where its own events
 * begin.
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
