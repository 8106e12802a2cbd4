import { useCluster } from '../support/cluster-stage.js';
import { CountingAgent } from '../support/counting-agent.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { openDoor } from '../support/doors.js';
import { logProblems, storedLogs } from '../support/stored-log.js';
import { until } from '../support/until.js';
import { type Api, external, input, linear, unique, type Workflow } from '../support/workflow.js';

const stage = useCluster({ replicas: 3 });

const LIMIT = 5;
const RUNS = 120;
/** Milliseconds for which the agent works on a Message. A longer time shows the throughput better. */
const SERVICE_MS = Number(process.env['SLOT_SERVICE_MS'] ?? 100);
const WITHIN = { within: 300_000 };

function limited(agent: FakeAgent): Workflow & { concurrency: object } {
  const call = external('call', agent.url, { prompt: 'work {{n}}' });
  return { ...linear(unique('slots'), input('n'), call), concurrency: { limit: LIMIT } };
}

async function startAll(apis: readonly Api[], workflow: string): Promise<string[]> {
  const starts = Array.from({ length: RUNS }, (_, n) => apis[n % apis.length]!.start(workflow, { n: String(n) }));
  return Promise.all(starts);
}

async function countEnded(runIds: readonly string[]): Promise<number> {
  const [row] = await stage.database.query<{ ended: number }>(
    `SELECT count(*)::int AS ended FROM task WHERE task_id = ANY($1) AND state IN
       ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`,
    [runIds],
  );
  return row?.ended ?? 0;
}

async function expectAllCompleted(runIds: readonly string[], counting: CountingAgent): Promise<void> {
  let ended = 0;
  const what = (): string => `all runs to end; ${ended} of ${runIds.length} have, ${counting.active.size} are at work`;
  await until(async () => (ended = await countEnded(runIds)) === runIds.length, { ...WITHIN, what });
  const states = await stage.database.query('SELECT DISTINCT state FROM task WHERE task_id = ANY($1)', [runIds]);
  expect(states).toEqual([{ state: 'TASK_STATE_COMPLETED' }]);
  expect(counting.done.size).toBe(runIds.length);
  expect(counting.most).toBeLessThanOrEqual(LIMIT);
  const logs = await storedLogs(stage.database.query, runIds.slice(0, 20));
  expect(logs.flatMap(logProblems)).toEqual([]);
  const left = async (): Promise<unknown[]> => stage.database.query('SELECT task_id FROM run_slot');
  await until(async () => (await left()).length === 0, { what: 'the slots of all runs to be removed' });
}

/** Kills the oldest replica, and starts another one, at three times during the work. */
async function killThrice(counting: CountingAgent): Promise<void> {
  for (const share of [0.1, 0.3, 0.5]) {
    const what = (): string => `${share} of the runs to be done; ${counting.done.size} are`;
    await until(() => counting.done.size >= RUNS * share, { ...WITHIN, what });
    await stage.cluster.kill(stage.replica(0));
    await stage.cluster.add();
  }
}

/** Registers the agent under a limit of the service. @returns a workflow that calls it */
async function behindLimit(counting: CountingAgent): Promise<Workflow> {
  const { name } = await openDoor(stage.replica(0).url, counting.agent.url, { policy: { forgotten: 'resend' } });
  const limit = { name: unique('limit'), target: `agents/${name}`, concurrency: LIMIT };
  expect((await stage.at(0).call('POST', '/limits', limit)).status).toBe(201);
  const call = { id: 'call', type: 'external', config: { agent: name, prompt: 'work {{n}}' } };
  return linear(unique('limited'), input('n'), call);
}

describe('A registered agent with a limit of five turns, over three replicas', () => {
  it('never has six, and gets further Messages at once', async () => {
    const counting = new CountingAgent(await stage.fake(), LIMIT, SERVICE_MS);
    const { name } = await stage.at(0).save(await behindLimit(counting));
    const runIds = await startAll([stage.at(0), stage.at(1), stage.at(2)], name);
    await expectAllCompleted(runIds, counting);
    process.stderr.write(
      `Throughput at an agent with a limit of ${LIMIT}: ${counting.share.toFixed(2)} of ${LIMIT} / ${SERVICE_MS} ms\n`,
    );
  });

  it('never has six while replicas are killed, and every run completes', async () => {
    const counting = new CountingAgent(await stage.fake(), LIMIT, SERVICE_MS);
    const { name } = await stage.at(0).save(await behindLimit(counting));
    const runIds = await startAll([stage.at(0), stage.at(1), stage.at(2)], name);
    await killThrice(counting);
    await expectAllCompleted(runIds, counting);
  });
});

describe('A workflow with a limit of five runs, over three replicas', () => {
  it('never has six, and begins further runs at once', async () => {
    const counting = new CountingAgent(await stage.fake(), LIMIT, SERVICE_MS);
    const { name } = await stage.at(0).save(limited(counting.agent));
    const runIds = await startAll([stage.at(0), stage.at(1), stage.at(2)], name);
    await expectAllCompleted(runIds, counting);
    // A figure for people: it depends on the machine, so nothing asserts it.
    process.stderr.write(
      `Throughput with ${LIMIT} slots: ${counting.share.toFixed(2)} of ${LIMIT} / ${SERVICE_MS} ms\n`,
    );
  });

  it('never has six while replicas are killed, and every run completes', async () => {
    const counting = new CountingAgent(await stage.fake(), LIMIT, SERVICE_MS);
    const { name } = await stage.at(0).save(limited(counting.agent));
    const runIds = await startAll([stage.at(0), stage.at(1), stage.at(2)], name);
    await killThrice(counting);
    await expectAllCompleted(runIds, counting);
  });
});
