import { Injectable } from '@nestjs/common';
import { Processes } from '#libs/process';
import { firstText, type JsonObject } from '#libs/protocol';
import type { StoredTask, TaskScope } from '#libs/tasks';
import { inputsOf } from '../run-inputs.js';
import { readRunMetadata } from '../run-metadata.js';
import { runStatus } from '../run-state.js';
import { WorkflowStore } from '../workflow-store.js';
import { type RunPage, type RunQuery, type RunSummary, STATES_OF } from './run.dto.js';
import { revisionOf, workflowOf } from './run-task.js';

/** A caller's runs of all workflows, the one that changed last first. */
@Injectable()
export class RunList {
  constructor(
    private readonly processes: Processes,
    private readonly workflows: WorkflowStore,
  ) {}

  async page(query: RunQuery, scope: TaskScope): Promise<RunPage> {
    const agent = `workflows/${query.workflow ?? '*'}`;
    const { q, since } = query;
    const among = { ...(q && { search: q }), ...(since && { updatedAfter: since }) };
    const listing = { agent, among, states: STATES_OF, summary: (run: StoredTask) => this.summary(run) };
    const { found, nextPageToken } = await this.processes.page(listing, query, scope);
    return { runs: found, nextPageToken };
  }

  private async summary({ header, task }: StoredTask): Promise<RunSummary> {
    const status = runStatus(header.state);
    const message = status === 'failed' ? firstText(task.status.message?.parts ?? []) : undefined;
    return {
      runId: header.taskId,
      workflow: workflowOf(header),
      status,
      contextId: header.contextId,
      inputs: await this.inputs({ header, task }),
      ...(task.artifacts && { result: task.artifacts }),
      ...(message !== undefined && { error: { message } }),
      createdAt: header.createdAt.toISOString(),
      updatedAt: header.updatedAt.toISOString(),
    };
  }

  private async inputs({ header, task }: StoredTask): Promise<JsonObject> {
    const { inputs } = readRunMetadata(task.metadata);
    if (inputs !== undefined) return inputs;
    const revision = await this.workflows.inTenant(header.tenant).get(workflowOf(header), revisionOf(task));
    const first = task.history?.[0];
    return revision && first ? inputsOf(first, revision.definition) : {};
  }
}
