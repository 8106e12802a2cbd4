import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { AgentCatalog, agentOrGone, END_CHILDREN, readEndChildren } from '#libs/agents';
import { ServiceAddress } from '#libs/http-server';
import { Jobs } from '#libs/job-queue';
import { NO_KEY, ReplicaSignals } from '#libs/postgres';
import { A2AError, isTerminalState } from '#libs/protocol';
import { Shutdown } from '#libs/service';
import { type TaskHeader, TaskStore } from '#libs/tasks';
import { ExecutionRegistry } from './execution-registry.js';
import { acceptedRevision } from './execution.js';
import { CANCEL_REQUESTED } from './task-cancels.js';

/** Injection token: milliseconds between polls for cancel requests while no signal arrives; 500 by default. */
const CANCEL_LOOK_MS = Symbol('CANCEL_LOOK_MS');

/**
 * Polls the database for cancel requests that other replicas have stored, for Tasks that this replica executes. It
 * polls when another replica sends a signal, and twice a second, because signals may be lost.
 */
@Injectable()
export class CancelPoller {
  private readonly logger = new Logger(CancelPoller.name);
  private timer: NodeJS.Timeout | undefined;
  private looking = false;
  private again = false;
  private stopped = false;

  constructor(
    private readonly registry: ExecutionRegistry,
    shutdown: Shutdown,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(CANCEL_LOOK_MS) private readonly lookMs = 500,
  ) {
    // Cancels are handled until the executions have ended.
    shutdown.registerStep('connections', () => this.stop());
  }

  start(): void {
    const lookNow = (): void => void this.lookForCancels();
    this.timer = setInterval(lookNow, this.lookMs);
    this.signals?.subscribeTopic(CANCEL_REQUESTED, { wakeFor: lookNow, catchUp: lookNow }).watchKey(NO_KEY);
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
  }

  /** Polls for cancel requests, one poll at a time. If it is called during a poll, one more poll follows. */
  private async lookForCancels(): Promise<void> {
    this.again = true;
    if (this.looking) return;
    this.looking = true;
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        await this.registry.cancelRequested();
      } catch (error) {
        this.logger.warn({ err: error }, 'Polling for cancels failed; retrying');
      }
    }
    this.looking = false;
  }
}

/**
 * Function that cancels remote Tasks: those that a Task of this service (`parent`) has started at remote agents. It may
 * be called repeatedly for one parent.
 */
export type RemoteEnding = (parent: TaskHeader) => Promise<void>;

/** Maximum number of cancels that run at the same time. */
const AT_ONCE = 16;
/**
 * Maximum milliseconds that one attempt of the job that cancels child Tasks (ChildEndings) waits for them to end.
 * The next attempt checks the child Tasks that have not ended.
 */
const SOON_MS = 250;

/** Error that makes the job retry because some child Tasks have not ended yet. */
class ChildrenAtWork extends Error {
  override readonly name = 'ChildrenAtWork';
}

/**
 * Cancels the child Tasks of Tasks that ended without their executor, because of a limit, an error or a missing
 * definition. It runs as a job, which is enqueued in the commit that ends the parent.
 *
 * - A child Task that has ended stays as it is.
 * - While a child Task has not ended, the job is retried, up to its maximum number of attempts.
 * - The first attempt stores and starts the cancel of every child Task. No attempt waits for slow ones.
 */
@Injectable()
export class ChildEndings {
  private readonly remote: RemoteEnding[] = [];

  constructor(
    private readonly store: TaskStore,
    private readonly registry: ExecutionRegistry,
    private readonly catalog: AgentCatalog,
    private readonly address: ServiceAddress,
    jobs: Jobs,
  ) {
    jobs.registerHandler(END_CHILDREN, {
      read: readEndChildren,
      run: ({ taskId }, { signal }) => this.endAll(taskId, signal),
    });
  }

  /** Registers a function that cancels the remote Tasks of a parent. */
  addRemoteEnding(ending: RemoteEnding): void {
    this.remote.push(ending);
  }

  private async endAll(taskId: string, signal: AbortSignal): Promise<void> {
    const parent = await this.store.readHeader(taskId);
    if (!parent || !isTerminalState(parent.state)) return;
    for (const ending of this.remote) await ending(parent);
    const open = (await this.store.listChildren(taskId)).filter(({ state }) => !isTerminalState(state));
    const patience = AbortSignal.timeout(SOON_MS);
    let atWork = 0;
    for (let next = 0; next < open.length; next += AT_ONCE) {
      signal.throwIfAborted();
      const ended = await Promise.all(open.slice(next, next + AT_ONCE).map((child) => this.endChild(child, patience)));
      atWork += ended.filter((hasEnded) => !hasEnded).length;
    }
    if (atWork > 0) throw new ChildrenAtWork(`Children of task ${taskId} are still at work: ${atWork}`);
  }

  /**
   * Cancels a child Task.
   * @returns false if the child has not ended when `patience` aborts; the next attempt of the job checks it again
   */
  private async endChild({ taskId, tenant, owner, agent: path }: TaskHeader, patience: AbortSignal): Promise<boolean> {
    const revision = await acceptedRevision(this.store, taskId);
    const agent = await agentOrGone(() => this.catalog.inTenant(tenant).resolveAgent(path, revision), path, revision);
    const call = { scope: { tenant, owner }, agent: path, extensions: [], baseUrl: this.address.internalUrl };
    try {
      await this.registry.cancelAndWait(agent, taskId, call, patience);
    } catch (error) {
      if (patience.aborted && error === patience.reason) return false;
      if (!(error instanceof A2AError) || !ENDED.has(error.reason)) throw error;
    }
    return true;
  }
}

/** Reasons of errors which show that a child needs no cancel: it has ended or was purged. */
const ENDED = new Set(['TASK_NOT_CANCELABLE', 'TASK_NOT_FOUND']);
