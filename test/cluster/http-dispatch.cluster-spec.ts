import { setTimeout as delay } from 'node:timers/promises';
import { useCluster } from '../support/cluster-stage.js';
import { FakeLlm } from '../support/fake-llm.js';
import { logProblems, storedLogs } from '../support/stored-log.js';
import { range } from '../support/sse.js';
import { until } from '../support/until.js';
import { diamond, echo, input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

const llm = await FakeLlm.start();
const stage = useCluster({
  replicas: 3,
  env: { NODE_DISPATCH: 'http', LLM_BASE_URL: llm.url, LLM_MODEL: 'm' },
});

afterAll(() => llm.stop());

const WIDTH = 9;

/** Creates a workflow of parallel nodes whose model answers none of them until `letAnswer` is called. */
function wide(): { workflow: Workflow; letAnswer: () => void } {
  const { promise: begins, resolve: letAnswer } = Promise.withResolvers<void>();
  llm.answer = () => ({ begins, text: 'did it' });
  const workers = range(1, WIDTH).map((n) => echo(`w${n}`, { model: 'm' }));
  return { workflow: diamond(unique('wide'), input('in'), workers, output('out')), letAnswer };
}

/** Returns how many child Tasks of a run each replica claims. */
async function claims(runId: string): Promise<number[]> {
  const rows = await stage.database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM task WHERE context_id = (SELECT context_id FROM task WHERE task_id = $1)
       AND agent LIKE '%/nodes/w%' AND state = 'TASK_STATE_WORKING' GROUP BY replica_id`,
    [runId],
  );
  return rows.map(({ n }) => n);
}

/** Returns the agents that have more than one Task of a run. */
function doubled(contextId: string): Promise<object[]> {
  return stage.database.query(
    'SELECT agent, count(*)::int AS tasks FROM task WHERE context_id = $1 GROUP BY agent HAVING count(*) > 1',
    [contextId],
  );
}

const working = (runId: string): Promise<number[]> =>
  until(
    async () => {
      const counts = await claims(runId);
      return counts.reduce((sum, n) => sum + n, 0) === WIDTH && counts;
    },
    { what: 'every node to be under way' },
  );

/**
 * Starts a run of parallel nodes, and waits until all are under way. Starts another one if the balancer left a replica
 * out meanwhile: on a busy machine a replica may be late for a check.
 */
async function startWide(): Promise<{ runId: string; counts: number[]; letAnswer: () => void }> {
  for (;;) {
    await stage.cluster.balanced();
    const { losses } = stage.cluster.balancer;
    const { workflow, letAnswer } = wide();
    await stage.api.save(workflow);
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    const counts = await working(runId);
    if (stage.cluster.balancer.losses === losses) return { runId, counts, letAnswer };
    letAnswer();
    await stage.api.ended(runId);
  }
}

describe('NODE_DISPATCH=http with the balancer as INTERNAL_URL', () => {
  it("spreads one run's nodes over all replicas, by A2A alone", async () => {
    const { runId, counts, letAnswer } = await startWide();
    expect(counts).toHaveLength(3);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    letAnswer();
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

  it('connections that break under the calls fail no node, and make no Task twice', async () => {
    const nodes = range(1, 8).map((n) => script(`n${n}`, { status: 'working' }, { sleep: 40 }, { complete: 'done' }));
    const { name } = await stage.api.save(linear(unique('broken'), ...nodes));
    const runIds = await Promise.all(range(1, 5).map(() => stage.at(0).start(name)));
    let going = true;
    const cutting = (async () => {
      for (; going; await delay(150)) stage.cluster.balancer.cut();
    })();
    await delay(2_000);
    going = false;
    await cutting;
    const runs = await Promise.all(runIds.map((runId) => stage.at(0).ended(runId)));
    expect(runs.map(({ status, error }) => error ?? status)).toEqual(Array(runs.length).fill('completed'));
    for (const { contextId } of runs) expect(await doubled(contextId)).toEqual([]);
  });

  it('a replica that dies under the nodes of another one loses none of them', async () => {
    const { workflow, letAnswer } = wide();
    await stage.api.save(workflow);
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    await working(runId);
    const owner = await stage.cluster.owned(runId);
    await stage.cluster.kill(stage.cluster.replicas.find((replica) => replica !== owner)!);
    letAnswer();
    const run = await stage.api.ended(runId);
    expect([run.status, run.error]).toEqual(['completed', undefined]);
    expect(run.result?.[0]?.parts).toHaveLength(1);
  });

  it('the replica that drives the run dies: no node under way is worked on again', async () => {
    const { workflow, letAnswer } = wide();
    await stage.api.save(workflow);
    const runId = await stage.api.start(workflow.name, { in: 'x' });
    await working(runId);
    await stage.cluster.kill(await stage.cluster.owned(runId));
    letAnswer();
    const run = await stage.api.ended(runId);
    expect([run.status, run.error]).toEqual(['completed', undefined]);
    expect(await doubled(run.contextId)).toEqual([]);
  });
});
