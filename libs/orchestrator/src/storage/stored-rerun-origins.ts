import { Injectable } from '@nestjs/common';
import { isTerminalState, TASK_STATES } from '#libs/protocol';
import { TaskRetention, type TaskScope, TaskStore } from '#libs/tasks';
import { RerunOrigins, type RerunOrigin } from '../rerun/rerun-origins.js';
import { RERUN_KEY } from '../rerun/rerun-request.js';
import { readRunMetadata } from '../run-metadata.js';
import { WorkflowStore } from '../workflow-store.js';

/** RerunOrigins on the TaskStore and the WorkflowStore. A run is kept as long as an unfinished rerun began with it. */
@Injectable()
export class StoredRerunOrigins extends RerunOrigins {
  constructor(
    private readonly tasks: TaskStore,
    private readonly workflows: WorkflowStore,
    retention: TaskRetention,
  ) {
    super();
    retention.keepWith(STILL_NEEDED);
  }

  override async findOrigin(runId: string, scope: TaskScope): Promise<RerunOrigin | undefined> {
    const header = await this.tasks.readHeader(runId, scope);
    if (header === undefined) return undefined;
    const log = (await this.tasks.readEvents(runId, 0, header.lastSequence)).map(({ event }) => event);
    const [first] = log;
    const { workflow, revision } = first && 'task' in first ? readRunMetadata(first.task.metadata) : {};
    if (workflow === undefined || revision === undefined) return undefined;
    const saved = await this.workflows.inTenant(header.tenant).get(workflow, revision);
    return saved && { workflow: saved, log };
  }
}

const ENDED = TASK_STATES.filter(isTerminalState)
  .map((state) => `'${state}'`)
  .join(', ');

/**
 * Visits each context once, however many of its Tasks would be deleted. The Task of a rerun is searched as a text:
 * PostgreSQL cannot parse JSON with \u0000, which callers may send. A match elsewhere in the text only keeps a run of
 * the same caller for too long.
 */
const STILL_NEEDED = `
  WITH rerun AS MATERIALIZED (
    SELECT task.tenant, task.owner, task.agent, task.context_id, coalesce(log.events, log.payload::text) AS begun
    FROM task JOIN task_log AS log ON log.task_id = task.task_id
      AND log.sequence = (SELECT min(first.sequence) FROM task_log AS first WHERE first.task_id = task.task_id)
    WHERE task.context_id = ANY(ARRAY(SELECT context_id FROM old WHERE agent ~ '^workflows/[^/]+$'))
      AND task.parent_task_id IS NULL AND task.state NOT IN (${ENDED})
  )
  SELECT old.task_id FROM old JOIN rerun USING (tenant, owner, agent, context_id)
  WHERE strpos(rerun.begun, '"${RERUN_KEY}":{"origin":"' || old.task_id || '"') > 0`;
