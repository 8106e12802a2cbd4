import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { Processes } from '#libs/durable';
import { firstText, type JsonObject } from '#libs/protocol';
import { begunTask, type StoredTask, type TaskQuery, type TaskScope, TaskStore } from '#libs/tasks';
import { inputsOf, type WorkflowFailure } from '#libs/workflow-definition';
import {
  nodePath,
  readRunMetadata,
  reportedError,
  revisionOf,
  RunChildStore,
  runStatus,
  shownFailure,
  workflowRunBy,
} from '#libs/workflow-engine';
import { findRevision, WorkflowStore } from '../storage/workflow-store.js';
import { type RunPage, type RunQuery, type RunSummary, STATES_OF } from './run.dto.js';

/**
 * Lists a caller's runs of all workflows, most recently updated first. The run of a `workflow` node is listed only with
 * the filter `parent`.
 */
@Injectable()
export class RunList {
  constructor(
    private readonly processes: Processes,
    private readonly workflows: WorkflowStore,
    private readonly tasks: TaskStore,
    private readonly children: RunChildStore,
  ) {}

  async listRuns(query: RunQuery, call: Pick<ApiCall, 'scope' | 'whenAnswered'>): Promise<RunPage> {
    const { scope } = call;
    const { q, since, parent, workflow = '*' } = query;
    const children = parent === undefined ? undefined : await this.amongChildren(parent, query, scope);
    const agent = children ? undefined : `workflows/${workflow}`;
    const among = { ...children, ...(q && { search: q }), ...(since && { updatedAfter: since }) };
    const listing = { agent, among, states: STATES_OF, summary: (run: StoredTask) => this.summarizeRun(run) };
    const { found, nextPageToken } = await this.processes.listPage(listing, query, call);
    return { runs: found, nextPageToken };
  }

  /** Returns the filter for the runs that the `workflow` nodes of the run `parent` have started. */
  private async amongChildren(
    parent: string,
    { workflow }: RunQuery,
    scope: TaskScope,
  ): Promise<Pick<TaskQuery, 'agents' | 'calledBy'>> {
    const [task, elsewhere] = await Promise.all([begunTask(this.tasks, parent), this.children.listChildren(parent)]);
    const run = readRunMetadata(task?.metadata);
    const store = this.workflows.inTenant(scope.tenant);
    const found = run.workflow === undefined ? undefined : await findRevision(store, run.workflow, run.revision);
    const nodes = found?.definition.nodes.filter(({ type, config }) => {
      return type === 'workflow' && (workflow === undefined || config['workflow'] === workflow);
    });
    return {
      agents: nodes?.map(({ id }) => nodePath(run.workflow ?? '', id)) ?? [],
      calledBy: { taskId: parent, elsewhere: elsewhere.map(({ taskId }) => taskId) },
    };
  }

  private async summarizeRun({ header, task }: StoredTask): Promise<RunSummary | undefined> {
    const workflow = workflowRunBy(header, task);
    if (workflow === undefined) return undefined;
    const status = runStatus(header.state);
    const revision = revisionOf(task);
    return {
      runId: header.taskId,
      workflow,
      ...(revision !== undefined && { revision }),
      status,
      contextId: header.contextId,
      inputs: await this.readInputs({ header, task }, workflow),
      ...(task.artifacts && { result: task.artifacts }),
      ...(status === 'failed' && { error: await this.readFailure({ header, task }) }),
      createdAt: header.createdAt.toISOString(),
      updatedAt: header.updatedAt.toISOString(),
    };
  }

  /**
   * Returns the failure of a run. A run records its failure in the event before its last one. If something other than
   * the run ended its Task, there is only a text.
   */
  private async readFailure({ header: { taskId, lastSequence }, task }: StoredTask): Promise<WorkflowFailure> {
    const [reported] = await this.tasks.readEvents(taskId, Math.max(0, lastSequence - 2), 1);
    const message = firstText(task.status.message?.parts ?? []) ?? 'The run failed';
    return shownFailure((reported && reportedError(reported.event)) ?? { message });
  }

  private async readInputs({ header, task }: StoredTask, workflow: string): Promise<JsonObject> {
    const { inputs } = readRunMetadata(task.metadata);
    if (inputs !== undefined) return inputs;
    const revision = await findRevision(this.workflows.inTenant(header.tenant), workflow, revisionOf(task));
    const first = task.history?.[0];
    return revision && first ? inputsOf(first, revision.definition) : {};
  }
}
