import { sendTask } from '../support/a2a.js';
import { answers, holds } from '../support/fake-behaviour.js';
import { purgeUntil, stopScheduledPurges } from '../support/purges.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, linear, output, unique } from '../support/workflow.js';

const stage = useSharedStage({ env: { TASK_RETENTION: '1s' } });

beforeAll(() => stopScheduledPurges(stage.database.query));

describe('a revision that Tasks need', () => {
  it('stays for reruns of reruns, for a rerun that names it and for one that goes on from a node', async () => {
    const name = unique('rerun');
    await stage.api.save(linear(name, asks('one'), output('o')));
    const origin = await answered(await stage.api.start(name));
    for (const text of ['two', 'three'])
      await stage.api.call('PUT', `/workflows/${name}`, linear(name, asks(text), output('o')));
    const first = await answered(await rerun(origin));
    const second = await answered(await rerun(first));
    const waiting = [await rerun(second), await rerun(origin, { revision: '2' }), await rerun(origin, { from: ['q'] })];
    for (const runId of waiting) await stage.api.reached(runId, ['input-required']);
    await stage.api.call('DELETE', `/workflows/${name}`);
    await age(name);
    await purgeUntil(stage.database.query, async () => !(await revisionsOf(name)).includes('3'));
    expect(await revisionsOf(name)).toEqual(['1', '2']);
    for (const runId of waiting) await answered(runId);
    await purgeUntil(stage.database.query, async () => (await revisionsOf(name)).length === 0);
  });

  it('stays for a Task whose id says no time, and for a run whose node runs another workflow', async () => {
    const [talks, child, parent] = [unique('talks'), unique('child'), unique('parent')];
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const talk = { id: 'talk', type: 'conversation', config: { target: fake.url, message: 'hello', maxTurns: 0 } };
    await stage.api.save(linear(talks, talk));
    await stage.api.save(linear(child, asks('child'), output('o')));
    await stage.api.save(linear(parent, { id: 'w', type: 'workflow', config: { workflow: child } }, output('o')));
    const sent = { configuration: { returnImmediately: true } };
    const { id } = await sendTask(stage.api.base(talks, 'talk'), 'go', sent);
    expect(id[14]).toBe('4');
    const runId = await stage.api.start(parent);
    await stage.api.reached(runId, ['input-required']);
    // The purge goes by the time in an id, which cannot be set back: younger Tasks than are kept count for nothing.
    await until(() => Date.now() - timeOf(runId) > 2_000, { what: 'the run to be older than Tasks are kept' });
    await stage.database.query(
      `UPDATE task SET created_at = created_at - interval '20 minutes' WHERE agent LIKE ANY($1)`,
      [[`workflows/${talks}/%`, `workflows/${parent}%`]],
    );
    for (const name of [talks, child, parent]) {
      await stage.api.call('PUT', `/workflows/${name}`, linear(name, echo('other')));
      await stage.api.call('DELETE', `/workflows/${name}`);
      await age(name);
    }
    const old = unique('old');
    await stage.api.save(linear(old, echo('e')));
    await stage.api.call('DELETE', `/workflows/${old}`);
    await age(old);
    await purgeUntil(stage.database.query, async () => (await revisionsOf(old)).length === 0);
    for (const name of [talks, child, parent]) expect(await revisionsOf(name)).toContain('1');
    fake.always(() => answers('done'));
    fake.release();
    await until(async () => (await stateOf(id)) === 'TASK_STATE_COMPLETED', { what: 'the conversation' });
    await answered(runId);
  });

  it('is not taken from under a rerun that is being started, and one that is not made keeps nothing', async () => {
    const name = unique('noted');
    await stage.api.save(linear(name, echo('e')));
    await stage.api.call('PUT', `/workflows/${name}`, linear(name, echo('f')));
    await stage.database.query(`INSERT INTO run_revision (run_id, tenant, name, revision) VALUES ($1, '', $2, 1)`, [
      unique('run'),
      name,
    ]);
    await stage.api.call('DELETE', `/workflows/${name}`);
    await age(name);
    await purgeUntil(stage.database.query, async () => !(await revisionsOf(name)).includes('2'));
    expect(await revisionsOf(name)).toEqual(['1']);
    await stage.database.query(`UPDATE run_revision SET noted_at = now() - interval '2 hours' WHERE name = $1`, [name]);
    await purgeUntil(stage.database.query, async () => (await revisionsOf(name)).length === 0);
  });
});

const asks = (prompt: string) => ({ id: 'q', type: 'human', config: { prompt } });

async function rerun(runId: string, body: object = {}): Promise<string> {
  const reply = await stage.api.call<{ runId: string }>('POST', `/runs/${runId}/rerun`, body);
  if (reply.status !== 202) throw new Error(`${reply.status} ${reply.text}`);
  return reply.body.runId;
}

/** Answers what a run asks, and waits for its end. */
async function answered(runId: string): Promise<string> {
  const run = await stage.api.reached(runId, ['input-required']);
  const [node = ''] = Object.entries(run.nodes).find(([, { status }]) => status === 'input-required') ?? [];
  const reply = await stage.api.call('POST', `/runs/${runId}/answers`, { node, parts: [{ text: 'yes' }] });
  expect([reply.status, reply.text]).toEqual([202, expect.anything()]);
  expect((await stage.api.ended(runId)).status).toBe('completed');
  return runId;
}

/** As if it had been saved, and deleted, some time ago. */
async function age(name: string): Promise<void> {
  await stage.database.query(
    `UPDATE workflow_revision SET created_at = created_at - interval '10 minutes' WHERE name = $1`,
    [name],
  );
  await stage.database.query(`UPDATE workflow SET deleted_at = deleted_at - interval '5 minutes' WHERE name = $1`, [
    name,
  ]);
}

/** The milliseconds since 1970 that a UUID of version 7 begins with. */
function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

async function stateOf(taskId: string): Promise<string | undefined> {
  const [row] = await stage.database.query<{ state: string }>('SELECT state FROM task WHERE task_id = $1', [taskId]);
  return row?.state;
}

async function revisionsOf(name: string): Promise<string[]> {
  const rows = await stage.database.query<{ revision: string }>(
    'SELECT revision::text FROM workflow_revision WHERE name = $1 ORDER BY revision',
    [name],
  );
  return rows.map(({ revision }) => revision);
}
