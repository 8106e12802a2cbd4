import { useCluster } from '../support/cluster-stage.js';
import { logProblems, storedLogs } from '../support/stored-log.js';
import { range } from '../support/sse.js';
import { until } from '../support/until.js';
import { diamond, input, output, script, unique, type Workflow } from '../support/workflow.js';

const stage = useCluster({ replicas: 3, env: { NODE_DISPATCH: 'http' } });

const WIDTH = 9;

function wide(sleep: number): Workflow {
  const worker = (n: number) =>
    script(
      `w${n}`,
      { status: 'working' },
      { sleep },
      { artifact: { parts: [{ text: `did ${n}` }] } },
      { complete: '' },
    );
  return diamond(unique('wide'), input('in'), range(1, WIDTH).map(worker), output('out'));
}

/** The replicas that claim the children of a run, each with how many. */
async function claims(runId: string): Promise<number[]> {
  const rows = await stage.database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM task WHERE context_id = (SELECT context_id FROM task WHERE task_id = $1)
       AND agent LIKE '%/nodes/w%' AND state = 'TASK_STATE_WORKING' GROUP BY replica_id`,
    [runId],
  );
  return rows.map(({ n }) => n);
}

async function noted(runId: string): Promise<number> {
  const [row] = await stage.database.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM run_child WHERE run_id = $1 AND node_id LIKE $2',
    [runId, 'w%'],
  );
  return row?.n ?? 0;
}

const working = (runId: string): Promise<number[]> =>
  until(
    async () => {
      const counts = await claims(runId);
      return counts.reduce((sum, n) => sum + n, 0) === WIDTH && counts;
    },
    { what: 'every node to be under way' },
  );

describe('NODE_DISPATCH=http with the balancer as INTERNAL_URL', () => {
  it("spreads one run's nodes over all replicas, by A2A alone", async () => {
    const workflow = await stage.api.save(wide(1_500));
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    const counts = await working(runId);
    expect(counts).toHaveLength(3);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    const run = await stage.api.ended(runId);
    expect(run.status).toBe('completed');
    const { contextId } = run;
    const tasks = await stage.database.query<{ id: string }>('SELECT task_id AS id FROM task WHERE context_id = $1', [
      contextId,
    ]);
    const logs = await storedLogs(
      stage.database.query,
      tasks.map(({ id }) => id),
    );
    expect(logs.flatMap(logProblems)).toEqual([]);
    // The run itself, one Task for each node, and no second one for any of them.
    expect(new Set(logs.map(({ agent }) => agent)).size).toBe(logs.length);
  });

  it('a replica that dies under the nodes of another one loses none of them', async () => {
    const workflow = await stage.api.save(wide(1_500));
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    await working(runId);
    const owner = await stage.cluster.owned(runId);
    await stage.cluster.kill(stage.cluster.replicas.find((replica) => replica !== owner)!);
    const run = await stage.api.ended(runId, 30_000);
    expect([run.status, run.error]).toEqual(['completed', undefined]);
    expect(run.result?.[0]?.parts).toHaveLength(1);
  });

  it('the replica that drives the run dies: nodes under way are followed, not called again', async () => {
    const workflow = await stage.api.save(wide(1_500));
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    await until(async () => (await noted(runId)) === WIDTH, { what: 'the run to have noted its children' });
    await stage.cluster.kill(await stage.cluster.owned(runId));
    const run = await stage.api.ended(runId, 30_000);
    expect([run.status, run.error]).toEqual(['completed', undefined]);
    const doubled = await stage.database.query(
      'SELECT agent, count(*)::int AS tasks FROM task WHERE context_id = $1 GROUP BY agent HAVING count(*) > 1',
      [run.contextId],
    );
    expect(doubled).toEqual([]);
  });
});
