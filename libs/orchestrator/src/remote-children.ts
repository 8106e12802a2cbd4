import { Injectable } from '@nestjs/common';
import { acceptedRevision, ChildEndings } from '#libs/executor';
import { Jobs } from '#libs/jobs';
import { type TaskHeader, TaskStore } from '#libs/tasks';
import { CancelOutcomes } from './cancel-outcomes.js';
import { createCancelJob } from './child-cancel.js';
import { externalCall } from './external-call.js';
import { findRevision } from './inline-workflow.js';
import { readNodeId } from './instances.js';
import { type RunChild, RunChildStore } from './run-child-store.js';
import type { WorkflowDefinition } from './workflow.js';
import { WorkflowStore } from './workflow-store.js';

const RUN_PATH = /^workflows\/([^/]+)$/;

/** Cancels the remote Tasks of a run that was ended from outside. */
@Injectable()
export class RemoteChildren {
  constructor(
    endings: ChildEndings,
    private readonly children: RunChildStore,
    private readonly outcomes: CancelOutcomes,
    private readonly workflows: WorkflowStore,
    private readonly tasks: TaskStore,
    private readonly jobs: Jobs,
  ) {
    endings.addRemoteEnding((run) => this.endAll(run));
  }

  private async endAll(run: TaskHeader): Promise<void> {
    const children = await this.children.listChildren(run.taskId);
    if (children.length === 0) return;
    const known = new Set((await this.outcomes.listOutcomes(run.taskId)).map(attemptKey));
    const definition = await this.definitionOf(run);
    const unknown = children.filter(({ nodeId, attempt }) => !known.has(attemptKey({ node: nodeId, attempt })));
    await this.jobs.enqueueJobs(unknown.map((child) => jobOf(run, child, definition)));
  }

  /**
   * Returns the definition of a run. `undefined` if it is gone, and for runs of nodes, whose agents are called without
   * a credential.
   */
  private async definitionOf({ taskId, tenant, agent }: TaskHeader): Promise<WorkflowDefinition | undefined> {
    const [, workflow] = RUN_PATH.exec(agent) ?? [];
    if (workflow === undefined) return undefined;
    const revision = await acceptedRevision(this.tasks, taskId);
    return (await findRevision(this.workflows.inTenant(tenant), workflow, revision))?.definition;
  }
}

function jobOf(
  { taskId: runId, tenant, owner }: TaskHeader,
  { nodeId, attempt, taskId, agentUrl }: RunChild,
  definition: WorkflowDefinition | undefined,
): ReturnType<typeof createCancelJob> {
  return createCancelJob({
    runId,
    node: nodeId,
    attempt,
    taskId,
    agentUrl,
    scope: { tenant, owner },
    ...externalCall(definition?.nodes.find(({ id }) => id === readNodeId(nodeId))),
  });
}

function attemptKey({ node, attempt }: { node: string; attempt: number }): string {
  return `${node}#${attempt}`;
}
