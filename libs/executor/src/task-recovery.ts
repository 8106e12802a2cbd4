import { Injectable, Logger, Optional } from '@nestjs/common';
import { NO_KEY, REPLICA_LEFT, ReplicaLife, ReplicaSignals, ServiceAddress, Shutdown } from '#libs/platform';
import { isTerminalState, isWaitingState, type Message, statusUpdate } from '#libs/protocol';
import { type RecordedEvent, type StoredTask, type TaskClaim, TaskFold, TaskRecorder, TaskStore } from '#libs/tasks';
import { AgentCatalog, type ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';
import { ExecutionRegistry } from './execution-registry.js';
import { REVISION_KEY } from './new-task.js';

const SWEEP_MS = 1000;
const BATCH = 32;

/**
 * Takes over the Tasks of replicas that are gone, and goes on with them or ends them with a reason. A living replica's
 * Tasks are never touched.
 */
@Injectable()
export class TaskRecovery {
  private readonly logger = new Logger(TaskRecovery.name);
  private timer: NodeJS.Timeout | undefined;
  private sweeping = false;
  private again = false;
  private stopped = false;

  constructor(
    private readonly store: TaskStore,
    private readonly recorder: TaskRecorder,
    private readonly registry: ExecutionRegistry,
    private readonly catalog: AgentCatalog,
    private readonly replica: ReplicaLife,
    private readonly address: ServiceAddress,
    shutdown: Shutdown,
    @Optional() private readonly signals?: ReplicaSignals,
  ) {
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

  private async recover(claim: TaskClaim): Promise<void> {
    try {
      const stored = await this.store.load(claim.taskId);
      if (!stored || isTerminalState(stored.header.state) || isWaitingState(stored.header.state)) {
        await this.store.release(claim);
        return;
      }
      const agent = await this.agentOf(stored);
      if (agent?.executor.recovery === 'restart') await this.restart(agent, stored, claim);
      else await this.fail(stored, claim);
    } catch (error) {
      this.logger.error({ err: error, taskId: claim.taskId }, 'A task could not be recovered');
    }
  }

  private async agentOf({ header, task }: StoredTask): Promise<ServedAgent | undefined> {
    const revision = task.metadata?.[REVISION_KEY];
    return this.catalog
      .inTenant(header.tenant)
      .resolve(header.agent, typeof revision === 'string' ? revision : undefined)
      .catch((error: unknown) => {
        this.logger.warn({ err: error, taskId: header.taskId, agent: header.agent }, 'The agent of a task is gone');
        return undefined;
      });
  }

  private async restart(agent: ServedAgent, stored: StoredTask, claim: TaskClaim): Promise<void> {
    const events = await this.store.events(claim.taskId, 0, stored.header.lastSequence);
    const turn = lastTurn(events);
    this.registry.recover({ agent, stored, token: claim.token, call: this.callOf(stored), ...turn });
  }

  private async fail(stored: StoredTask, claim: TaskClaim): Promise<void> {
    const recording = this.recorder.continue(stored, claim.token);
    const canceled = await this.store.cancelRequests(this.replica.replicaId);
    const sentence = 'The process that worked on this task stopped, and its agent cannot go on from there.';
    if (canceled.includes(claim.taskId)) recording.record(statusUpdate(recording, 'TASK_STATE_CANCELED'));
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
