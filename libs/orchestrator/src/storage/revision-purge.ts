import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { firstTaskIdOf, TaskRetention } from '#libs/tasks';

/** A Task's id has its time from another clock than a revision has its own. */
const CLOCKS_DIFFER_MS = 60_000;

/**
 * Deletes revisions of workflows that were replaced, or whose workflow was deleted, longer ago than Tasks are kept, and
 * that no Task can have been made with: all Tasks of the workflow and its nodes are younger than the replacement. What a
 * saved workflow runs stays with it.
 */
@Injectable()
export class RevisionPurge {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    retention.sweepAfter((olderThan) => this.purge(olderThan));
  }

  private async purge(olderThan: Date): Promise<void> {
    const replacedBefore = new Date(olderThan.getTime() - CLOCKS_DIFFER_MS);
    await this.database.pool.query(PURGE, [replacedBefore, firstTaskIdOf(olderThan)]);
  }
}

// After a purge few Tasks of that age are left: those that have not ended, or are still needed, with their children. Ids from 'g' on say no time.
const PURGE = `
  WITH kept AS MATERIALIZED (
    SELECT tenant, split_part(agent, '/', 2) AS name, min(created_at) AS oldest FROM task
    WHERE (task_id < $2 OR task_id >= 'g') AND starts_with(agent, 'workflows/') GROUP BY 1, 2
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
    AND NOT EXISTS (SELECT FROM kept WHERE kept.tenant = saved.tenant AND kept.name = saved.name AND kept.oldest < replaced.at + interval '1 minute')`;
