import { getTask, rpc, sendTask } from '../support/a2a.js';
import { answers, ends, holds } from '../support/fake-behaviour.js';
import { purgeUntil, stopScheduledPurges } from '../support/purges.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, external, input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage({ env: { TASK_RETENTION: '1s' } });

beforeAll(() => stopScheduledPurges(stage.database.query));

const TASK_NOT_FOUND = -32_001;

describe('TASK_RETENTION', () => {
  it('a Task that ended long enough ago is not found, and nothing of it is left', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const workflow = await stage.api.save(linear(unique('old'), input('in'), echo('e'), external('x', fake.url)));
    const headers = { 'Idempotency-Key': unique('key') };
    const runId = await stage.api.start(workflow.name, { in: 'a' }, headers);
    await until(async () => (await rowsOf([runId])).run_child === 1, { what: 'the Task of the agent to be known' });
    const children = await stage.database.query<{ task_id: string }>(
      'SELECT task_id FROM task WHERE parent_task_id = $1',
      [runId],
    );
    expect(children).toHaveLength(2);
    const ids = [runId, ...children.map((child) => child.task_id)];
    expect(await rowsOf(ids)).toMatchObject({ task: 3, run_child: 1, task_key: 1, task_prompt: 1 });
    fake.release();
    await purgeUntil(stage.database.query, async () => (await rowsOf(ids)).task === 0);
    expect(await rowsOf(ids)).toEqual({ task: 0, task_event: 0, task_key: 0, task_prompt: 0, run_child: 0 });
    const base = stage.api.base(workflow.name);
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
      const { body } = await rpc(base, method, { id: runId });
      expect([method, body.error?.code]).toEqual([method, TASK_NOT_FOUND]);
    }
    const stream = await fetch(`${base}/tasks/${runId}:subscribe`, {
      method: 'POST',
      headers: { 'a2a-version': '1.0', 'last-event-id': '2' },
    });
    expect(stream.status).toBe(404);
    expect((await stage.api.call('GET', `/runs/${runId}`)).status).toBe(404);
    const again = await stage.api.start(workflow.name, { in: 'a' }, headers);
    expect(again).not.toBe(runId);
  });

  it('old keys are found by their age, however many are young', async () => {
    await stage.database.query(
      `INSERT INTO task_key (tenant, owner, agent, key, fingerprint, task_id, created_at)
       SELECT 't', 'o', 'a', 'k' || n, 'f', 'none', CASE WHEN n <= 3 THEN now() - interval '1 day' ELSE now() + interval '1 day' END
       FROM generate_series(1, 20000) AS n`,
    );
    await stage.database.query('ANALYZE task_key');
    const plan = await stage.database.query(
      `EXPLAIN SELECT ctid FROM task_key WHERE created_at < now() - interval '1 hour' ORDER BY created_at LIMIT 500`,
    );
    expect(JSON.stringify(plan)).toContain('task_key_age');
    await purgeUntil(stage.database.query, async () => (await youngAndOld()).old === 0);
    expect(await youngAndOld()).toEqual({ young: 19_997, old: 0 });
  });

  it('keys of Tasks that stay hold up no others, however many are of one time', async () => {
    const { name } = await stage.api.save(linear(unique('asks'), script('q', { ask: 'which?' })));
    const waiting = await sendTask(stage.api.base(name), 'hello');
    await stage.database.query(
      `INSERT INTO task_key (tenant, owner, agent, key, fingerprint, task_id, created_at)
       SELECT 's', 'p', 'a', 'k' || n, 'f', CASE WHEN n <= 1200 THEN $1 ELSE 'none' END, now() - interval '1 day'
       FROM generate_series(1, 1300) AS n`,
      [waiting.id],
    );
    const left = () =>
      stage.database.query(
        `SELECT task_id = 'none' AS gone, count(*)::int FROM task_key WHERE tenant = 's' GROUP BY 1`,
      );
    await purgeUntil(stage.database.query, async () => (await left()).length === 1);
    expect(await left()).toEqual([{ gone: false, count: 1200 }]);
  });

  it('a Task that has not ended stays, with every Task that it called for', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const name = unique('live');
    await stage.api.save(linear(name, input('in'), echo('early'), external('x', fake.url)));
    await stage.api.save(linear(`${name}_ask`, script('q', { ask: 'which?' })));
    const waiting = await sendTask(stage.api.base(`${name}_ask`), 'hello');
    const key = { 'Idempotency-Key': unique('key') };
    const asked = await stage.api.start(`${name}_ask`, {}, key);
    await stage.api.reached(asked, ['input-required']);
    const runId = await stage.api.start(name, { in: 'a' });
    await fake.sent();
    // What ended meanwhile is purged: the job has been through all Tasks.
    const old = await sendTask(stage.api.base(name, 'early'), 'old');
    await purgeUntil(stage.database.query, async () => (await rowsOf([old.id])).task === 0);
    const run = await stage.api.run(runId);
    expect(run).toMatchObject({ status: 'running', nodes: { early: { status: 'completed' } } });
    const early = run.nodes.early?.taskId ?? '';
    expect((await getTask(stage.api.base(name, 'early'), early)).status.state).toBe('TASK_STATE_COMPLETED');
    expect((await getTask(stage.api.base(`${name}_ask`), waiting.id)).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(await stage.api.start(`${name}_ask`, {}, key)).toBe(asked);
    fake.release();
    await purgeUntil(stage.database.query, async () => (await rowsOf([runId, early])).task === 0);
  });

  it('a child that outlives its run goes when it has ended itself', async () => {
    const [parent, child] = [await ended('parent'), await ended('child')];
    await stage.database.query(
      'UPDATE task SET parent_task_id = $1, updated_at = now() + $3::interval WHERE task_id = $2',
      [parent, child, '1 hour'],
    );
    await purgeUntil(stage.database.query, async () => (await rowsOf([parent])).task === 0);
    expect(await rowsOf([child])).toMatchObject({ task: 1 });
    await stage.database.query('UPDATE task SET updated_at = now() WHERE task_id = $1', [child]);
    await purgeUntil(stage.database.query, async () => (await rowsOf([child])).task === 0);
  });

  it('a run stays as long as a rerun of it goes on, which takes over what it gets to last', async () => {
    const fake = await stage.fake();
    fake.always(({ text }) => answers(`${text}!`));
    const each = { items: '[1, 2]', concurrency: 1 };
    const list = { ...external('m', fake.url, { prompt: '${string(item)}' }), each };
    const { name } = await stage.api.save({ ...linear(unique('origin'), input('in'), list), language: 2 } as Workflow);
    const origin = await stage.api.ended(await stage.api.start(name, { in: 'x' }));
    fake.next(ends('TASK_STATE_INPUT_REQUIRED', 'sure?'));
    const { body } = await stage.api.call('POST', `/runs/${origin.runId}/rerun`, { from: ['m[0]'] });
    const runId = String(body['runId']);
    await until(async () => (await stage.api.run(runId)).status === 'input-required', { what: 'the question' });
    const parent = await ended('parent');
    await stage.database.query('UPDATE task SET parent_task_id = $1 WHERE task_id = $2', [parent, origin.runId]);
    await sweptOnce();
    expect(await rowsOf([parent])).toMatchObject({ task: 0 });
    expect((await stage.api.run(origin.runId)).status).toBe('completed');
    await sendTask(stage.api.base(name), 'yes', { fields: { taskId: runId } });
    const again = await stage.api.ended(runId);
    expect([again.status, again.nodes['m']?.artifacts[0]?.parts[0]?.data]).toEqual(['completed', ['yes!', '2!']]);
    expect(fake.texts).toEqual(['1', '2', '1', 'yes']);
    await purgeUntil(stage.database.query, async () => (await rowsOf([origin.runId, runId])).task === 0);
  });

  it('an id that says no time goes by its end as well', async () => {
    const workflow = await stage.api.save(linear(unique('alias'), echo(unique('founding'))));
    const node = workflow.nodes[0]?.id ?? '';
    const reply = await rpc<{ id: string }>(`${stage.api.url}/a2a/nodes/${node}`, 'a2a.sendMessage', {
      message: { role: 'user', parts: [{ type: 'text', text: 'hello' }] },
    });
    const id = reply.body.result?.id ?? '';
    expect(id).toMatch(/^task-/);
    await purgeUntil(stage.database.query, async () => (await rowsOf([id])).task === 0);
  });

  it('old revisions of a workflow go when no Task was made with them', async () => {
    const name = unique('revised');
    await stage.api.save(linear(name, echo('a'), output('o')));
    const runId = await stage.api.start(name);
    await stage.api.ended(runId);
    await stage.database.query(
      `UPDATE task SET updated_at = now() + interval '1 hour', created_at = now() - interval '20 minutes' WHERE task_id = $1`,
      [runId],
    );
    for (const prompt of ['two', 'three']) {
      await stage.api.call('PUT', `/workflows/${name}`, linear(name, echo('a', { prompt }), output('o')));
    }
    await sweptOnce();
    await stage.database.query(
      `UPDATE workflow_revision SET created_at = created_at - interval '10 minutes' WHERE name = $1`,
      [name],
    );
    await sweptOnce();
    expect(await revisionsOf(name)).toEqual(['1', '2', '3']);
    expect((await stage.api.run(runId)).status).toBe('completed');
    await stage.database.query('UPDATE task SET updated_at = created_at WHERE task_id = $1', [runId]);
    await purgeUntil(stage.database.query, async () => (await revisionsOf(name)).length === 1);
    expect(await revisionsOf(name)).toEqual(['3']);
    await stage.api.ended(await stage.api.start(name));
  });
});

/** A Task that has ended. */
async function ended(prefix: string): Promise<string> {
  const { name } = await stage.api.save(linear(unique(prefix), echo('a')));
  return (await sendTask(stage.api.base(name, 'a'), 'hello')).id;
}

/** Has everything looked through that is older than now. */
async function sweptOnce(): Promise<void> {
  const old = await ended('swept');
  await purgeUntil(stage.database.query, async () => (await rowsOf([old])).task === 0);
}

async function rowsOf(taskIds: string[]): Promise<Record<string, number>> {
  const [row] = await stage.database.query<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM task WHERE task_id = ANY($1)) AS task,
            (SELECT count(*)::int FROM task_event WHERE task_id = ANY($1)) AS task_event,
            (SELECT count(*)::int FROM task_key WHERE task_id = ANY($1)) AS task_key,
            (SELECT count(*)::int FROM task_prompt WHERE task_id = ANY($1)) AS task_prompt,
            (SELECT count(*)::int FROM run_child WHERE run_id = ANY($1)) AS run_child`,
    [taskIds],
  );
  return row ?? {};
}

async function revisionsOf(name: string): Promise<string[]> {
  const rows = await stage.database.query<{ revision: string }>(
    'SELECT revision::text FROM workflow_revision WHERE name = $1 ORDER BY revision',
    [name],
  );
  return rows.map(({ revision }) => revision);
}

async function youngAndOld(): Promise<{ young: number; old: number }> {
  const [row] = await stage.database.query<{ young: number; old: number }>(
    `SELECT count(*) FILTER (WHERE created_at > now())::int AS young,
            count(*) FILTER (WHERE created_at < now() - interval '1 hour')::int AS old
     FROM task_key WHERE owner = 'o'`,
  );
  return row ?? { young: 0, old: 0 };
}
