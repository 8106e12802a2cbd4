import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { firstTaskIdOf, TaskRetention } from '#libs/tasks';

/** Tolerance between the clock of a Task's id and the clock of a revision, in milliseconds. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * Deletes revisions that were replaced, or whose workflow was deleted, longer ago than Tasks are kept. A deleted
 * revision meets all conditions:
 * - All Tasks of the workflow and its nodes are younger than the replacement, so they began with newer revisions.
 * - No run was noted to have begun with it (`WorkflowStore.keepFor`): reruns begin with older revisions.
 * - No saved workflow runs it.
 */
@Injectable()
export class RevisionPurge {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    retention.purgeWith('DELETE FROM run_revision WHERE run_id = ANY($1::text[])');
    retention.sweepAfter((olderThan) => this.purgeRevisions(olderThan));
  }

  private async purgeRevisions(olderThan: Date): Promise<void> {
    const replacedBefore = new Date(olderThan.getTime() - CLOCKS_DIFFER_MS);
    await this.database.pool.query(FORGET_UNMADE);
    await this.database.pool.query(PURGE, [replacedBefore, firstTaskIdOf(olderThan)]);
  }
}

// After a purge few Tasks of that age are left: those that have not ended or are still needed, and their children. Ids
// from 'g' on contain no time, and neither do ids with random digits only (the index task_untimed).
const PURGE = `
  WITH kept AS MATERIALIZED (
    SELECT tenant, split_part(agent, '/', 2) AS name, min(created_at) AS oldest FROM (
      SELECT tenant, agent, created_at FROM task WHERE task_id < $2 OR task_id >= 'g'
      UNION ALL
      SELECT tenant, agent, created_at FROM task WHERE substr(task_id, 15, 1) <> '7'
    ) AS old
    WHERE starts_with(agent, 'workflows/') GROUP BY 1, 2
  ),
  replaced AS MATERIALIZED (
    SELECT saved.tenant, saved.name, saved.revision,
           coalesce(lead(saved.created_at) OVER (PARTITION BY saved.tenant, saved.name ORDER BY saved.revision),
                    workflow.deleted_at) AS at
    FROM workflow_revision AS saved JOIN workflow USING (tenant, name)
  )
  DELETE FROM workflow_revision AS saved USING replaced
  WHERE (saved.tenant, saved.name, saved.revision) = (replaced.tenant, replaced.name, replaced.revision)
    AND replaced.at < $1
    AND NOT EXISTS (SELECT FROM workflow_pin AS pin WHERE (pin.tenant, pin.name, pin.revision) = (saved.tenant, saved.name, saved.revision))
    AND NOT EXISTS (SELECT FROM run_revision AS used WHERE (used.tenant, used.name, used.revision) = (saved.tenant, saved.name, saved.revision))
    AND NOT EXISTS (SELECT FROM kept WHERE kept.tenant = saved.tenant AND kept.name = saved.name AND kept.oldest < replaced.at + interval '1 minute')`;

/** Deletes notes of runs that were never created. */
const FORGET_UNMADE = `
  DELETE FROM run_revision AS used WHERE noted_at < now() - interval '1 hour'
    AND NOT EXISTS (SELECT FROM task WHERE task.task_id = used.run_id)`;
