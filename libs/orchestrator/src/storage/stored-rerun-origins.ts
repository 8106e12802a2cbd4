import { Injectable } from '@nestjs/common';
import { type TaskScope, TaskStore } from '#libs/tasks';
import { RerunOrigins, type RerunOrigin } from '../rerun/rerun-origins.js';
import { readRunMetadata } from '../run-metadata.js';
import { WorkflowStore } from '../workflow-store.js';

/** Those of the TaskStore and of the WorkflowStore. */
@Injectable()
export class StoredRerunOrigins extends RerunOrigins {
  constructor(
    private readonly tasks: TaskStore,
    private readonly workflows: WorkflowStore,
  ) {
    super();
  }

  override async find(runId: string, scope: TaskScope): Promise<RerunOrigin | undefined> {
    const header = await this.tasks.header(runId, scope);
    if (header === undefined) return undefined;
    const log = (await this.tasks.events(runId, 0, header.lastSequence)).map(({ event }) => event);
    const [first] = log;
    const { workflow, revision } = first && 'task' in first ? readRunMetadata(first.task.metadata) : {};
    if (workflow === undefined || revision === undefined) return undefined;
    const saved = await this.workflows.inTenant(header.tenant).get(workflow, revision);
    return saved && { workflow: saved, log };
  }
}
