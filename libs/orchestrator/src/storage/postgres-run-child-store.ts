import { Injectable } from '@nestjs/common';
import { BatchLoader, Database } from '#libs/postgres';
import { TaskRetention } from '#libs/tasks';
import { type MovedOnChild, type RunChild, RunChildStore } from '../run-child-store.js';

/** Runs whose children are read with one query. */
const RUNS_TOGETHER = 100;
/** Limit of concurrent queries. */
const QUERIES_AT_ONCE = 4;

/** RunChildStore on PostgreSQL. */
@Injectable()
export class PostgresRunChildStore extends RunChildStore {
  /** A replica that adopts many runs reads the children of all of them. */
  private readonly children = new BatchLoader(
    (runIds: readonly string[]) => this.readChildren(runIds),
    RUNS_TOGETHER,
    QUERIES_AT_ONCE,
  );

  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM run_child WHERE run_id = ANY($1::text[])');
  }

  async rememberChild(child: RunChild): Promise<void> {
    await this.database.pool.query({
      name: 'run-child-remember',
      text: `INSERT INTO run_child (run_id, node_id, attempt, task_id, agent_url) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (run_id, node_id, attempt) DO NOTHING`,
      values: [child.runId, child.nodeId, child.attempt, child.taskId, child.agentUrl],
    });
  }

  async listChildren(runId: string): Promise<RunChild[]> {
    return (await this.children.get(runId)) ?? [];
  }

  async movedOn(runId: string): Promise<MovedOnChild[]> {
    const { rows } = await this.database.pool.query<MovedOnChild>({
      name: 'run-children-moved-on',
      text: `SELECT node_id AS "nodeId", asked FROM remote_moved_on WHERE run_id = $1`,
      values: [runId],
    });
    return rows;
  }

  private async readChildren(runIds: readonly string[]): Promise<Map<string, RunChild[]>> {
    const { rows } = await this.database.pool.query<RunChild>({
      name: 'children-of-runs',
      text: `SELECT run_id AS "runId", node_id AS "nodeId", attempt, task_id AS "taskId", agent_url AS "agentUrl"
             FROM run_child WHERE run_id = ANY($1::text[]) ORDER BY node_id, attempt`,
      values: [runIds],
    });
    return Map.groupBy(rows, ({ runId }) => runId);
  }
}
