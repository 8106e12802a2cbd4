import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { ServiceAddress } from '#libs/http';
import { NO_KEY, REPLICA_LEFT, ReplicaLife, ReplicaSignals } from '#libs/postgres';
import { isTerminalState, isWaitingState, type Message, statusUpdate } from '#libs/protocol';
import { Shutdown } from '#libs/service';
import {
  ClaimLost,
  type RecordedEvent,
  type StoredTask,
  type TaskClaim,
  TaskEventRefused,
  TaskFold,
  TaskRecorder,
  TaskStore,
} from '#libs/tasks';
import { AgentCatalog, type ServedAgent, UnknownAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';
import { ExecutionRegistry } from './execution-registry.js';
import { REVISION_KEY } from './new-task.js';
import { CLAIM_LOOK_MS, OwnClaims } from './own-claims.js';

const SWEEP_MS = 1000;
const BATCH = 32;
/** So often an agent is asked for in vain before a Task that somebody wishes to cancel is canceled without it. */
const TRIES_BEFORE_CANCEL = 3;

/**
 * Takes over the Tasks of replicas that are gone, and those that this replica claims without executing them, and goes
 * on with them or ends them with a reason. The Tasks of other living replicas are never touched. What fails for a
 * passing reason is tried again after a pause, as long as it takes: only an agent that is gone for good, or that cannot
 * go on, ends its Task.
 */
@Injectable()
export class TaskRecovery {
  private readonly logger = new Logger(TaskRecovery.name);
  private timer: NodeJS.Timeout | undefined;
  private sweeping = false;
  private again = false;
  private stopped = false;
  private readonly ownClaims: OwnClaims;

  constructor(
    private readonly store: TaskStore,
    private readonly recorder: TaskRecorder,
    private readonly registry: ExecutionRegistry,
    private readonly catalog: AgentCatalog,
    private readonly replica: ReplicaLife,
    private readonly address: ServiceAddress,
    shutdown: Shutdown,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(CLAIM_LOOK_MS) claimLookMs = 5_000,
  ) {
    this.ownClaims = new OwnClaims(store, registry, replica, claimLookMs);
    shutdown.register('intake', () => this.stop());
  }

  /** Sweeps at once, then every second and when a replica leaves. To be called when this process can be reached. */
  start(): void {
    const sweep = (): void => void this.sweepAndWait();
    sweep();
    this.signals?.subscribe(REPLICA_LEFT, { wake: sweep, catchUp: () => undefined }).watch(NO_KEY);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** One look at the claims; resolves with the number of Tasks taken over. */
  async sweep(): Promise<number> {
    const adopted = await this.adoptOrphans();
    await this.takeUpIdle();
    return adopted;
  }

  private async adoptOrphans(): Promise<number> {
    const dead = await this.replica.deadReplicas();
    const gone = [...dead, ...(await this.replica.unknownReplicas(await this.store.claimants()))];
    let adopted = 0;
    while (gone.length > 0 && !this.stopped) {
      const claims = await this.store.adopt(this.replica.replicaId, gone, BATCH);
      adopted += claims.length;
      for (const claim of claims) await this.recover(claim);
      // Whoever wished to cancel one of them has waited long enough.
      if (claims.length > 0) await this.registry.cancelRequested();
      if (claims.length < BATCH) break;
    }
    // A replica is forgotten only after its Tasks were taken over.
    if (!this.stopped) for (const replicaId of dead) await this.replica.forget(replicaId);
    return adopted;
  }

  private async takeUpIdle(): Promise<void> {
    if (this.stopped) return;
    const claims = await this.ownClaims.due();
    for (const claim of claims) if (!this.stopped) await this.recover(claim, claim.failures);
    if (claims.length > 0) await this.registry.cancelRequested();
  }

  /** One sweep at a time; what is asked for meanwhile comes right after. */
  private async sweepAndWait(): Promise<void> {
    this.again = true;
    if (this.sweeping) return;
    this.sweeping = true;
    clearTimeout(this.timer);
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        const adopted = await this.sweep();
        if (adopted > 0) this.logger.log({ tasks: adopted }, 'Took over tasks of replicas that are gone');
      } catch (error) {
        this.logger.warn({ err: error }, 'Looking for tasks without a replica failed; it is tried again');
      }
    }
    this.sweeping = false;
    if (!this.stopped) this.timer = setTimeout(() => void this.sweepAndWait(), SWEEP_MS);
  }

  private async recover(claim: TaskClaim, failures = 0): Promise<void> {
    try {
      await this.takeUp(claim, failures);
      this.ownClaims.settled(claim);
      if (failures > 0) this.logger.log({ taskId: claim.taskId, failures }, 'A task was recovered after all');
    } catch (error) {
      if (error instanceof ClaimLost) return this.ownClaims.settled(claim);
      this.ownClaims.failed(claim, failures + 1, isLasting(error));
      // Told once: it may be tried again for ever.
      const level = failures === 0 ? 'error' : 'debug';
      const facts = { err: error, taskId: claim.taskId, failures };
      this.logger[level](facts, 'A task could not be recovered; it is tried again, less often each time');
    }
  }

  private async takeUp(claim: TaskClaim, failures: number): Promise<void> {
    const header = await this.store.header(claim.taskId);
    const goesOn = header && !isTerminalState(header.state) && !isWaitingState(header.state);
    const stored = goesOn ? await this.store.load(claim.taskId) : undefined;
    if (!stored) {
      await this.store.release(claim);
      return;
    }
    const agent = await this.agentOf(stored, failures);
    if (agent?.executor.recovery === 'restart') await this.restart(agent, stored, claim);
    else await this.fail(stored, claim);
  }

  /**
   * `undefined` where the agent is gone for good.
   * @throws whatever hindered the look: that decides nothing, unless somebody has waited long enough to cancel the Task
   */
  private async agentOf({ header, task }: StoredTask, failures: number): Promise<ServedAgent | undefined> {
    const { taskId, agent } = header;
    const revision = task.metadata?.[REVISION_KEY];
    try {
      const catalog = this.catalog.inTenant(header.tenant);
      return await catalog.resolve(agent, typeof revision === 'string' ? revision : undefined);
    } catch (error) {
      const gone = error instanceof UnknownAgent;
      if (!gone && (failures < TRIES_BEFORE_CANCEL || !(await this.shallBeCanceled(taskId)))) throw error;
      this.logger.warn({ err: error, taskId, agent }, 'A task has to do without its agent');
      return undefined;
    }
  }

  private async shallBeCanceled(taskId: string): Promise<boolean> {
    return (await this.store.cancelRequests(this.replica.replicaId)).includes(taskId);
  }

  private async restart(agent: ServedAgent, stored: StoredTask, claim: TaskClaim): Promise<void> {
    const events = await this.store.events(claim.taskId, 0, stored.header.lastSequence);
    const turn = lastTurn(events);
    this.registry.recover({ agent, stored, token: claim.token, call: this.callOf(stored), ...turn });
  }

  private async fail(stored: StoredTask, claim: TaskClaim): Promise<void> {
    const recording = this.recorder.continue(stored, claim.token);
    const canceled = await this.shallBeCanceled(claim.taskId);
    const sentence = 'The process that worked on this task stopped, and its agent cannot go on from there.';
    if (canceled) recording.record(statusUpdate(recording, 'TASK_STATE_CANCELED'));
    else recording.record(statusUpdate(recording, 'TASK_STATE_FAILED', sentence));
    await recording.flush();
  }

  private callOf({ header }: StoredTask): CallContext {
    return {
      scope: { tenant: header.tenant, owner: header.owner },
      agent: header.agent,
      extensions: [],
      baseUrl: this.address.internalUrl,
      ...(header.parentTaskId !== undefined && {
        parent: { taskId: header.parentTaskId, reference: header.parentReference ?? '' },
      }),
    };
  }
}

/** Whether the log itself is at fault, which no database that comes back mends. */
function isLasting(error: unknown): boolean {
  return error instanceof TaskEventRefused || error instanceof SyntaxError || error instanceof TypeError;
}

/** The turn that was under way: the last Message accepted, the Task before it, and where its own events begin. */
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
  const [first, ...rest] = before;
  if (!first) return { userMessage: message, task: null, acceptedAt: opening.sequence };
  const fold = TaskFold.begin(first.event);
  for (const { event } of rest) fold.apply(event);
  return { userMessage: message, task: fold.task(), acceptedAt: opening.sequence };
}

function openingMessage({ event }: RecordedEvent): Message | undefined {
  if ('task' in event) return event.task.history?.at(-1);
  return 'statusUpdate' in event ? event.received : undefined;
}
