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

/** Cancels what a Task called for elsewhere. It may be asked again for what it did. */
export type RemoteEnding = (parent: TaskHeader) => Promise<void>;

/** Children that are canceled at a time. */
const AT_ONCE = 16;

/**
 * Ends the children of Tasks that ended without their executor's word: because a limit or a fault ended them, or their
 * definition is gone. The job is enqueued in the commit of that end.
 * - A child that has ended stays as it is.
 * - A child that cannot be canceled yet is tried again.
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
    jobs.register(END_CHILDREN, {
      read: readEndChildren,
      run: ({ taskId }, { signal }) => this.endAll(taskId, signal),
    });
  }

  /** Ends also what Tasks called for elsewhere. */
  also(ending: RemoteEnding): void {
    this.remote.push(ending);
  }

  private async endAll(taskId: string, signal: AbortSignal): Promise<void> {
    const parent = await this.store.header(taskId);
    if (!parent || !isTerminalState(parent.state)) return;
    for (const ending of this.remote) await ending(parent);
    const open = (await this.store.children(taskId)).filter(({ state }) => !isTerminalState(state));
    for (let next = 0; next < open.length; next += AT_ONCE) {
      signal.throwIfAborted();
      await Promise.all(open.slice(next, next + AT_ONCE).map((child) => this.end(child)));
    }
  }

  private async end({ taskId, tenant, owner, agent: path }: TaskHeader): Promise<void> {
    const revision = await acceptedRevision(this.store, taskId);
    const agent = await agentOrGone(() => this.catalog.inTenant(tenant).resolve(path, revision), path, revision);
    const call = { scope: { tenant, owner }, agent: path, extensions: [], baseUrl: this.address.internalUrl };
    try {
      await this.registry.cancel(agent, taskId, call);
    } catch (error) {
      if (!(error instanceof A2AError) || !ENDED.has(error.reason)) throw error;
    }
  }
}

/** It has ended meanwhile, or was purged. */
const ENDED = new Set(['TASK_NOT_CANCELABLE', 'TASK_NOT_FOUND']);
