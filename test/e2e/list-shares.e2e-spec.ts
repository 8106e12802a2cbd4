import { rpc, sendTask } from '../support/a2a.js';
import { ANN, EVE, KNOWS_CALLERS } from '../support/callers.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, linear, script, unique } from '../support/workflow.js';

/** Agents of which one caller has Tasks: each search of it looks at all of their names. */
const AGENTS = 300_000;
/** Clients of that caller, each of which searches again and again. */
const CLIENTS = 40;

const stage = useStage(KNOWS_CALLERS);
let base: string;

beforeAll(async () => {
  const name = unique('asks');
  await new Api(stage.parley.url, ANN.headers).save(linear(name, script('s', { ask: 'more?' })));
  base = `${stage.parley.url}/a2a/workflows/${name}/nodes/s`;
  await sendTask(base, 'go', EVE);
  const [table] = await stage.database.query<{ name: string }>(
    `SELECT coalesce(to_regclass('task_count_folded'), 'task_count'::regclass)::text AS name`,
  );
  await stage.database.query(
    `INSERT INTO ${table?.name} (tenant, owner, agent, state, writer, tasks)
     SELECT tenant, owner, 'workflows/' || repeat('n', 200) || n, state, '', 1
     FROM (SELECT tenant, owner, state FROM task_count WHERE owner = 'eve' LIMIT 1) AS one, generate_series(1, $1::int) AS n`,
    [AGENTS],
  );
});

it('searches of one caller keep nothing of another waiting, and end when their clients leave', async () => {
  const leaving = new AbortController();
  const { signal } = leaving;
  const lists = Array.from({ length: CLIENTS }, async () => {
    const url = `${stage.parley.url}/api/runs?q=matches-nothing`;
    while (!signal.aborted) await fetch(url, { headers: EVE.headers, signal }).then((answer) => answer.text());
  });
  const settled = Promise.allSettled(lists);
  const full = async (): Promise<boolean> => (await searching()) === 2;
  await until(full, { what: 'as many searches as one caller has at a time' });
  const task = await sendTask(base, 'go', ANN);
  await sendTask(base, 'more', { ...ANN, fields: { taskId: task.id } });
  const { body } = await rpc(base, 'CancelTask', { id: (await sendTask(base, 'go', ANN)).id }, ANN);
  expect(body.error).toBeUndefined();
  const own = await fetch(`${stage.parley.url}/api/runs?q=matches-nothing`, { headers: ANN.headers });
  expect(own.status).toBe(200);
  expect((await rpc(base, 'ListTasks', {}, ANN)).body.error).toBeUndefined();
  expect((await rpc(base, 'GetTask', { id: task.id }, ANN)).body.error).toBeUndefined();
  await until(full, { what: 'as many searches of the other caller as before' });
  leaving.abort();
  await settled;
  await until(async () => (await searching()) === 0, { what: 'the searches of clients that left to end' });
});

async function searching(): Promise<number> {
  const rows = await stage.database.query(
    `SELECT FROM pg_stat_activity WHERE state = 'active' AND application_name LIKE '%:lists' AND datname = current_database()`,
  );
  return rows.length;
}
