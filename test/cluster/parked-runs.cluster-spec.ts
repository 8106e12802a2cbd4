import type { JsonObject } from '#libs/protocol';
import { useCluster } from '../support/cluster-stage.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { answers } from '../support/fake-behaviour.js';
import { asleepThoughDue, claimsWithoutExecutor } from '../support/idle-claims.js';
import { metric } from '../support/service-metrics.js';
import { logProblems, storedLogs } from '../support/stored-log.js';
import { until } from '../support/until.js';
import { type Api, external, step, unique, type Workflow, type WorkflowNode } from '../support/workflow.js';

const stage = useCluster({ replicas: 2 });

/**
 * Duration that exceeds the half minute for which a run waits in its replica before it is parked, also where its turn
 * ends seconds after its timer began.
 */
const LONG = '45s';
const RUNS = 20;

/** Time limit of waits: the runs themselves wait for half a minute. */
const WITHIN = { within: 180_000 };

type Node = WorkflowNode & JsonObject;

/** Creates a workflow that begins with a slow node, followed by an agent that is called once. */
function then(first: Node, agent: FakeAgent): Workflow {
  const nodes = [first, external('after', agent.url, { prompt: `after {{${first.id}}}` })];
  return { name: unique('parked'), nodes, edges: [{ from: first.id, to: 'after' }] };
}

const asks = (deadline: string): Node => ({
  id: 'gate',
  type: 'human',
  config: { prompt: 'Publish?' },
  onWait: { deadline, default: 'no' },
});

async function startAll(workflow: Workflow, api: Api): Promise<string[]> {
  await api.save(workflow);
  return Promise.all(Array.from({ length: RUNS }, () => api.start(workflow.name)));
}

/** Waits until no replica claims any of the runs, and all have a wake-up time. */
async function parked(runIds: readonly string[]): Promise<void> {
  const asleep = async (): Promise<boolean> => {
    const rows = await stage.database.query(
      'SELECT FROM task WHERE task_id = ANY($1) AND replica_id IS NULL AND wake_at IS NOT NULL',
      [runIds],
    );
    return rows.length === runIds.length;
  };
  await until(asleep, { what: 'all runs to be parked' });
}

/** Returns the number of ended runs, by one query, since single requests would take long. */
async function endedOf(runIds: readonly string[]): Promise<number> {
  const ended = await stage.database.query(
    `SELECT FROM task WHERE task_id = ANY($1) AND state IN
       ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`,
    [runIds],
  );
  return ended.length;
}

/** Asserts that each run has completed, has done nothing twice, and has left nothing behind. */
async function expectDoneOnce(runIds: readonly string[], agent: FakeAgent, done: string): Promise<void> {
  const api = stage.at(0);
  await until(async () => (await endedOf(runIds)) === runIds.length, { ...WITHIN, what: 'all runs to end' });
  const runs = await Promise.all(runIds.map((runId) => api.ended(runId)));
  expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['completed']));
  expect(agent.sends).toHaveLength(runIds.length);
  const logs = await storedLogs(stage.database.query, runIds);
  expect(logs.flatMap(logProblems)).toEqual([]);
  const steps = await Promise.all(runIds.map(async (runId) => (await (await api.events(runId)).all()).map(step)));
  for (const told of steps) {
    expect(told.filter((it) => it === done)).toHaveLength(1);
    expect(told.filter((it) => it === 'a2a.sending:after')).toHaveLength(1);
  }
  await until(async () => (await claimsWithoutExecutor(stage.database.query, stage.cluster.replicas)).length === 0);
  expect(await asleepThoughDue(stage.database.query)).toEqual([]);
}

describe('Parked runs', () => {
  it('whose replica is killed are woken by another one, each once; whoever reads them there reads on', async () => {
    const agent = (await stage.fake()).always(() => answers('done'));
    // Long enough for all of them to be asleep at once, on a slow machine as well.
    const workflow = then(asks('20s'), agent);
    const runIds = await startAll(workflow, stage.at(0));
    await parked(runIds);
    const [first = ''] = runIds;
    const told = (await stage.at(1).events(first)).all();
    await stage.cluster.kill(stage.replica(0));
    await expectDoneOnce(runIds, agent, 'node.completed:gate');
    const types = (await told).map(({ event }) => event);
    expect(types.filter((it) => it === 'run.woken')).toHaveLength(1);
    expect(types.at(-1)).toBe('done');
    await stage.cluster.add();
  });

  it('are answered at any replica, and then have no time any more', async () => {
    const agent = (await stage.fake()).always(() => answers('done'));
    const runIds = await startAll(then(asks('1h'), agent), stage.at(0));
    await parked(runIds);
    const answer = { node: 'gate', parts: [{ text: 'yes' }] };
    const taken = await Promise.all(
      runIds.flatMap((runId) =>
        [0, 1].map((index) =>
          stage
            .at(index)
            .call('POST', `/runs/${runId}/answers`, answer)
            .then(({ status }) => status),
        ),
      ),
    );
    expect(taken.toSorted((a, b) => a - b)).toEqual([...runIds.map(() => 202), ...runIds.map(() => 409)]);
    await expectDoneOnce(runIds, agent, 'node.completed:gate');
    expect(agent.texts).toEqual(runIds.map(() => 'after yes'));
  });

  it('that only wait for a time are woken once by whoever lives then, though all replicas were killed', async () => {
    const agent = (await stage.fake()).always(() => answers('done'));
    const nap: Node = { id: 'nap', type: 'wait', config: { for: LONG } };
    const runIds = await startAll(then(nap, agent), stage.at(0));
    await parked(runIds);
    const asleep = async (): Promise<number> => metric(stage.replica(1), 'parley_runs_waiting', 'reason="timer"');
    await until(async () => (await asleep()) === RUNS, { what: 'the metric to count all runs' });
    await stage.cluster.kill(stage.replica(0));
    await stage.cluster.kill(stage.replica(0));
    expect(agent.sends).toEqual([]);
    await Promise.all([stage.cluster.add(), stage.cluster.add()]);
    await expectDoneOnce(runIds, agent, 'node.completed:nap');
  });
});
