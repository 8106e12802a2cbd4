import { Injectable } from '@nestjs/common';
import { ServiceAddress } from '#libs/http';
import { Jobs } from '#libs/jobs';
import { A2AError, isTerminalState } from '#libs/protocol';
import { type TaskHeader, TaskStore } from '#libs/tasks';
import { AgentCatalog } from './agent-catalog.js';
import { END_CHILDREN, readEndChildren } from './end-children-job.js';
import { ExecutionRegistry } from './execution-registry.js';
import { agentOrGone } from './gone-agent.js';
import { acceptedRevision } from './new-task.js';

/** Cancels the Tasks that a Task started elsewhere. It may be called again for the same Task. */
export type RemoteEnding = (parent: TaskHeader) => Promise<void>;

/** Number of cancels that start at the same time. */
const AT_ONCE = 16;
/** Milliseconds that a job waits for children to end. Its next attempt sees the rest. */
const SOON_MS = 250;

/** Error that makes the job retry because some children have not ended yet. */
class ChildrenAtWork extends Error {
  override readonly name = 'ChildrenAtWork';
}

/**
 * Ends the children of Tasks that ended without their executor, because of a limit, an error or a missing definition.
 * The job is enqueued in the commit of that end.
 * - A child that has ended stays as it is.
 * - A child that cannot be canceled yet is retried.
 * - The first attempt stores and starts the cancel of every child. No attempt waits for slow children.
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

  /** Adds a function that cancels Tasks started elsewhere. */
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

  /** Cancels a child. @returns false if it is still working when `patience` aborts: it ends later */
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

/** Reasons why a child needs no cancel: it has ended or was purged. */
const ENDED = new Set(['TASK_NOT_CANCELABLE', 'TASK_NOT_FOUND']);
