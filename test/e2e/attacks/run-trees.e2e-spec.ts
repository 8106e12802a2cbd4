import pg from 'pg';
import type { JsonObject } from '#libs/protocol';
import { rpc, sendTask } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { metric } from '../../support/service-metrics.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { until } from '../../support/until.js';
import { Api, echo, linear, output, unique, type Workflow } from '../../support/workflow.js';

takeTurns();

/** A safety net: how long a machine that does other work may take for thousands of runs. */
const PATIENCE_MS = 300_000;
/** Messages of another caller while a tree is at work. */
const ANSWERS = 25;
/** Without a limit there are tens of thousands. */
const MOST_EXECUTIONS = 1_500;

const [ann, bob, eve] = [testCaller('ann'), testCaller('bob'), testCaller('eve')];
const stage = useStage({ env: { ...apiKeyEnv(ann, bob, eve), NODE_OPTIONS: '--max-old-space-size=512' } });
const apiOf = ({ headers }: typeof ann): Api => new Api(stage.parley.url, headers);

/**
 * A workflow whose only node calls another one for each entry of a list. Each call has a short prompt: the whole list as
 * the prompt of each would reach TASK_LIMIT before the end.
 */
function callingEach(name: string, called: string, items: string, entries: number): Workflow {
  const each = { items, concurrency: Math.min(entries, 1_000), maxItems: entries };
  const node = {
    id: 'n',
    type: 'workflow',
    config: { workflow: called, prompt: 'go' },
    each,
  } as Workflow['nodes'][number];
  return { ...{ language: 2, parallel: 10_000 }, name, nodes: [node], edges: [] };
}

/** Saves as many workflows as a tree has levels. @returns the name of the outermost */
async function saveTree(levels: number, entries: number): Promise<string> {
  const api = apiOf(ann);
  let { name } = await api.save(linear(unique('leaf'), output('result', { prompt: 'done' })));
  const items = `[${Array.from({ length: entries }, (_, index) => index)}]`;
  for (let level = 0; level < levels; level += 1)
    ({ name } = await api.save(callingEach(unique('level'), name, items, entries)));
  return name;
}

async function saveList(entries: number): Promise<string> {
  const api = apiOf(ann);
  const { name: leaf } = await api.save(linear(unique('leaf'), output('result', { prompt: 'done' })));
  const list = callingEach(unique('list'), leaf, 'inputs.entries', entries);
  const entry = { id: 'entries', type: 'input', config: { schema: { type: 'array' } } } as Workflow['nodes'][number];
  const workflow = { ...list, nodes: [entry, ...list.nodes], edges: [{ from: 'entries', to: 'n' }] };
  return (await api.save(workflow)).name;
}

async function startRun(caller: typeof ann, workflow: string, inputs: JsonObject = {}): Promise<string> {
  const { status, body } = await apiOf(caller).call('POST', `/workflows/${workflow}/runs`, { inputs });
  expect(status).toBe(202);
  return (body as { runId: string }).runId;
}

async function served(base: string, caller: typeof ann): Promise<string> {
  return (await sendTask(base, 'Ada', { headers: caller.headers })).status.state;
}

/** How many Tasks have not ended. */
async function unfinished(): Promise<number> {
  const client = new pg.Client({ connectionString: stage.database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: string }>(
      `SELECT count(*) FROM task WHERE state NOT IN ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED')`,
    );
    return Number(rows[0]?.count);
  } finally {
    await client.end();
  }
}

describe('one Message that starts thousands of runs', () => {
  it.each([
    ['five levels of lists of eight', () => saveTree(5, 8), {}],
    [
      'a list of ten thousand',
      () => saveList(10_000),
      { entries: Array.from({ length: 10_000 }, (_, index) => index) },
    ],
  ])(
    'leaves others served, and ends when it is canceled: %s',
    async (_shape, save, inputs) => {
      const workflow = await save();
      const { name } = await apiOf(bob).save(linear(unique('echo'), echo('writer'), output('result')));
      const base = apiOf(bob).base(name);
      const runId = await startRun(ann, workflow, inputs);
      await until(async () => ((await metric(stage.parley, 'parley_nodes_waiting')) ?? 0) > 0, {
        what: 'nodes to wait',
      });
      let most = 0;
      for (let answer = 0; answer < ANSWERS; answer += 1) {
        expect(await served(base, bob)).toBe('TASK_STATE_COMPLETED');
        most = Math.max(most, (await metric(stage.parley, 'parley_executions')) ?? Infinity);
      }
      expect(most).toBeLessThan(MOST_EXECUTIONS);
      const canceled = await rpc<{ status: { state: string } }>(
        apiOf(ann).base(workflow),
        'CancelTask',
        { id: runId },
        { headers: ann.headers },
      );
      expect(canceled.body).toMatchObject({ result: { status: { state: 'TASK_STATE_CANCELED' } } });
      await until(async () => (await unfinished()) === 0, { what: 'the whole tree to end' });
      // An execution gives its room back a moment after its end is durable.
      for (const name of ['parley_nodes_at_work', 'parley_nodes_waiting'])
        await until(async () => (await metric(stage.parley, name)) === 0, { what: `${name} to be 0` });
    },
    PATIENCE_MS,
  );

  it(
    'gives the trees of two callers equal turns, however many trees one of them has',
    async () => {
      const workflow = await saveList(10_000);
      const entries = Array.from({ length: 2_000 }, (_, index) => index);
      const anns = await Promise.all(Array.from({ length: 4 }, () => startRun(ann, workflow, { entries })));
      const eves = await startRun(eve, workflow, { entries });
      const completed = async (caller: typeof ann, runId: string): Promise<number> => {
        const { nodes } = (await apiOf(caller).run(runId)) as unknown as {
          nodes: Record<string, { counts?: { completed?: number } }>;
        };
        return nodes['n']?.counts?.completed ?? 0;
      };
      await until(async () => (await completed(eve, eves)) >= 40, { what: "40 nodes of eve's tree to complete" });
      const others = await Promise.all(anns.map((runId) => completed(ann, runId)));
      // Read last: all trees go on while they are read.
      const some = await completed(eve, eves);
      for (const count of others) expect(count).toBeGreaterThan(0);
      expect(others.reduce((sum, count) => sum + count, 0)).toBeLessThan(some * 10);
      await Promise.all(
        [...anns.map((id) => [ann, id] as const), [eve, eves] as const].map(([caller, id]) =>
          apiOf(caller).call('POST', `/runs/${id}/cancel`),
        ),
      );
      await until(async () => (await unfinished()) === 0, { what: 'all trees to end' });
    },
    PATIENCE_MS,
  );
});
