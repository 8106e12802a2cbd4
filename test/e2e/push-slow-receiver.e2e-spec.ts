import { sendTask } from '../support/a2a.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Api, linear, script, unique } from '../support/workflow.js';

/** Tasks that wait for the slow receiver. */
const WAITING = 2_000;
/** Tasks that are notified elsewhere meanwhile. */
const OTHERS = 60;
/** Tasks whose events are committed together: they have waited equally long. */
const AT_ONCE = 100;

const stage = useStage();
it('a receiver that holds its answers costs its lanes and nothing else, however many Tasks wait for it', async () => {
  const slow = await receiver();
  slow.holds = true;
  await tasksWithAWebhook(slow, WAITING);
  await wake();
  await until(() => slow.mostUnderWay === 2, { what: 'both lanes of the slow receiver to be at work' });
  const [before, from] = [await work(), performance.now()];
  const other = await receiver();
  const base = await scripted(stage.parley);
  for (let index = 0; index < OTHERS; index += 1) {
    const hook = { url: other.url };
    await sendTask(base, 'go', { configuration: { taskPushNotificationConfig: hook } });
  }
  await until(() => ends(other) === OTHERS, { what: 'the notifications of the others' });
  const after = await work();
  // What its two lanes do anew every ten seconds.
  const lasting = 4 * ((performance.now() - from) / 10_000);
  // Each of the others calls for a lane at most with each of its three events, and once with its config.
  expect(after.jobs - before.jobs).toBeLessThan(OTHERS * 4 + 50 + lasting);
  expect(after.turns - before.turns).toBeLessThan(20 + lasting);
  expect(slow.mostUnderWay).toBe(2);
  expect(await waitingConfigs()).toBeGreaterThanOrEqual(WAITING - 4);
  slow.release();
  await until(() => slow.accepted.length >= 300, { what: 'those that waited' });
  expect(slow.mostUnderWay).toBe(2);
  // Those whose attempts were cut short come again later.
  const batches = slow.accepted.slice(0, 300).map(({ event }) => Math.floor((numberOf(event) - 1) / AT_ONCE));
  expect(batches.filter((batch, index) => Math.abs(batch - Math.floor(index / AT_ONCE)) > 1)).toEqual([]);
});

it('what waits for a receiver survives kill -9 of the replica that serves it, in order', async () => {
  const database = await freshDatabase();
  stage.defer(() => database.drop());
  const doomed = await startParley({ databaseUrl: database.url });
  stage.defer(() => doomed.kill9().catch(() => undefined));
  const slow = await receiver();
  slow.holds = true;
  const base = await scripted(doomed);
  const hook = { configuration: { taskPushNotificationConfig: { url: slow.url } } };
  await Promise.all(Array.from({ length: 20 }, () => sendTask(base, 'go', hook)));
  await until(() => slow.underWay === 2, { what: 'both lanes to be at work' });
  await doomed.kill9();
  const survivor = await startParley({ databaseUrl: database.url });
  stage.defer(() => survivor.stop());
  await until(() => slow.received.length === 0 && slow.requests >= 4, { what: 'both lanes to go on' });
  slow.release();
  await until(() => ends(slow) === 20, { what: 'everything that waited' });
  const byConfig = Map.groupBy(slow.accepted, ({ id }) => id.split('.')[0]);
  for (const notifications of byConfig.values()) {
    expect(notifications.map(({ id }) => Number(id.split('.')[1]))).toEqual([1, 2, 3]);
  }
});

it('what is to be sent once more to a slow receiver costs its lanes and nothing else', async () => {
  const database = await freshDatabase();
  stage.defer(() => database.drop());
  const parley = await startParley({ databaseUrl: database.url });
  stage.defer(() => parley.stop());
  const [slow, other] = [await receiver(), await receiver()];
  const base = await scripted(parley);
  await sendTask(base, 'go', { configuration: { taskPushNotificationConfig: { url: slow.url } } });
  await until(() => ends(slow) === 1, { what: 'the notifications' });
  const ids = slow.accepted.map(({ id }) => id);
  await until(async () => (await database.query('SELECT FROM push_lane')).length === 0, { what: 'its lanes to end' });
  slow.holds = true;
  for (const id of [...ids, ...ids]) {
    const answer = await fetch(`${parley.url}/api/deliveries/${id}/redeliver`, { method: 'POST' });
    expect(answer.status).toBe(202);
  }
  await until(() => slow.underWay === 2, { what: 'both lanes to be at work' });
  await sendTask(base, 'go', { configuration: { taskPushNotificationConfig: { url: other.url } } });
  await until(() => ends(other) === 1, { what: 'the notifications of another' });
  expect(slow.mostUnderWay).toBe(2);
  // An attempt that is given up is followed by the next one.
  await until(() => slow.underWay === 2, { what: 'both lanes still to be at work' });
  slow.release();
  await until(() => slow.received.length === 3 * ids.length, { what: 'all that was asked for' });
  expect(slow.mostUnderWay).toBe(2);
});

it('frees a lane that a replica began and does not know of, since the answer to its commit was lost', async () => {
  const inserted = await stage.database.query(
    `INSERT INTO push_lane (receiver, lane, holder, tenant, owner, replica_id, updated_at)
     SELECT 'https://lost.test', 0, 'a lost answer', '', '', id, now() - interval '1 minute' FROM replica RETURNING holder`,
  );
  expect(inserted).toHaveLength(1);
  const lost = `SELECT FROM push_lane WHERE holder = 'a lost answer'`;
  await until(async () => (await stage.database.query(lost)).length === 0, { what: 'the lane to be freed' });
});

it('what a lane of an earlier version had in hand, and what waits behind it, is sent when its job is done again', async () => {
  const database = await freshDatabase();
  stage.defer(() => database.drop());
  const hook = await receiver();
  const { origin } = new URL(hook.url);
  await tasksWithAWebhook(hook, 5, database);
  await database.query(`UPDATE push_config SET scheduled = true, turn = 1, receiver = $1, due_at = now()`, [origin]);
  await database.query(`UPDATE push_config SET lane = 0 WHERE task_id = 'waits-1'`);
  await database.query(`INSERT INTO push_lane (receiver, lane, holder) VALUES ($1, 0, 'an earlier job')`, [origin]);
  await database.query('ALTER TABLE task DISABLE TRIGGER task_pushes');
  await database.query('UPDATE task SET last_sequence = 2');
  await database.query(`SELECT graphile_worker.add_job('push.serve', $1::json)`, [
    JSON.stringify({ receiver: origin, holder: 'an earlier job', failures: 3 }),
  ]);
  const parley = await startParley({ databaseUrl: database.url });
  stage.defer(() => parley.stop());
  await until(() => hook.accepted.length === 5, { what: 'the notifications' });
  await until(async () => (await database.query('SELECT FROM push_lane')).length === 0, { what: 'the lanes to end' });
});

it('what an earlier version scheduled with a job of its own is sent', async () => {
  const hook = await receiver();
  for (const table of ['task', 'task_event', 'push_config']) {
    await stage.database.query(`DELETE FROM ${table} WHERE task_id LIKE 'waits-%'`);
  }
  await tasksWithAWebhook(hook, 1);
  const [row] = await stage.database.query<{ pushId: string }>(
    `UPDATE push_config SET scheduled = true, turn = 7 WHERE url = $1 RETURNING push_id AS "pushId"`,
    [hook.url],
  );
  await stage.database.query(`UPDATE task SET last_sequence = 2 WHERE task_id = 'waits-1'`);
  await stage.database.query(
    `SELECT graphile_worker.add_job('push.deliver', json_build_object('pushId', $1::text, 'turn', 7))`,
    [row?.pushId],
  );
  await until(() => hook.accepted.length === 1, { what: 'the notification' });
  expect(numberOf(hook.accepted[0]?.event)).toBe(1);
});

it('what an earlier version scheduled is sent although its job is gone, a while after its time', async () => {
  const database = await freshDatabase();
  stage.defer(() => database.drop());
  const parley = await startParley({ databaseUrl: database.url });
  stage.defer(() => parley.stop());
  const hook = await receiver();
  await tasksWithAWebhook(hook, 4, database);
  // At once, since the service looks for them itself now and then. Of waits-3 and waits-4 the jobs may be there.
  await database.query(`
    UPDATE push_config SET scheduled = true, turn = 7, updated_at = now() - interval '1 hour';
    UPDATE task SET last_sequence = 2;
    UPDATE push_config SET next_attempt_at = now() - interval '1 hour' WHERE task_id = 'waits-2';
    UPDATE push_config SET next_attempt_at = now() + interval '10 minutes' WHERE task_id = 'waits-3';
    UPDATE push_config SET updated_at = now() WHERE task_id = 'waits-4'`);
  await database.query(`SELECT graphile_worker.add_job('push.revive')`);
  await until(() => hook.accepted.length === 2, { what: 'the notifications' });
  expect(new Set(hook.accepted.map(({ event }) => numberOf(event)))).toEqual(new Set([1, 2]));
  const [row] = await database.query(
    `SELECT count(*)::int AS count FROM push_config WHERE due_at IS NULL AND scheduled`,
  );
  expect(row).toEqual({ count: 2 });
});

async function receiver(): Promise<WebhookReceiver> {
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  return hook;
}

async function scripted({ url }: Parley): Promise<string> {
  const name = unique('slow');
  const api = new Api(url);
  await api.save(linear(name, script('s', { status: 'working' }, { complete: 'done' })));
  return api.base(name, 's');
}

/** How many Tasks have told their end. */
function ends({ accepted }: WebhookReceiver): number {
  return accepted.filter(({ body }) => body.includes('TASK_STATE_COMPLETED')).length;
}

/** Tasks of which one event is still to be told. */
async function tasksWithAWebhook({ url }: WebhookReceiver, count: number, database = stage.database): Promise<void> {
  await database.query(
    `INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at, pushes)
     SELECT 'waits-' || n, 'c', '', '', 'workflows/w/nodes/n', 'TASK_STATE_WORKING', 1, now(), now(), true
     FROM generate_series(1, $1::int) AS n`,
    [count],
  );
  await database.query(
    `INSERT INTO task_event (task_id, sequence, payload, recorded_at)
     SELECT 'waits-' || n, sequence, json_build_object('statusUpdate', json_build_object(
       'taskId', 'waits-' || n, 'contextId', 'c', 'status', json_build_object('state', 'TASK_STATE_WORKING'))), now()
     FROM generate_series(1, $1::int) AS n, generate_series(1, 2) AS sequence`,
    [count],
  );
  await database.query(
    `INSERT INTO push_config (push_id, task_id, config_id, tenant, owner, url, wire_version, delivered_sequence, scheduled, turn)
     SELECT gen_random_uuid()::text, 'waits-' || n, 'c', '', '', $2, '1.0', 1, false, 0
     FROM generate_series(1, $1::int) AS n`,
    [count, url],
  );
}

/** Their events, as a journal commits them: many Tasks at a time. */
async function wake(): Promise<void> {
  for (let from = 0; from < WAITING; from += AT_ONCE) {
    const ids = Array.from({ length: AT_ONCE }, (_, index) => `waits-${from + index + 1}`);
    await stage.database.query('UPDATE task SET last_sequence = 2 WHERE task_id = ANY($1::text[])', [ids]);
  }
  const waking = 'SELECT FROM push_waking LIMIT 1';
  await until(async () => (await stage.database.query(waking)).length === 0, { what: 'their webhooks to be woken' });
}

/** What was done so far: jobs of pushes, and changes of the configs that wait. */
async function work(): Promise<{ jobs: number; turns: number }> {
  const metrics = await (await fetch(`${stage.parley.url}/metrics`)).text();
  const counts = [...metrics.matchAll(/^parley_jobs_total\{job="push\.[^}]*\} (\d+)/gm)];
  const [row] = await stage.database.query<{ turns: number }>(
    `SELECT sum(turn)::int AS turns FROM push_config WHERE task_id LIKE 'waits-%'`,
  );
  return { jobs: counts.reduce((sum, [, count]) => sum + Number(count), 0), turns: row?.turns ?? 0 };
}

async function waitingConfigs(): Promise<number> {
  const [row] = await stage.database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM push_config WHERE task_id LIKE 'waits-%' AND delivered_sequence = 1`,
  );
  return row?.count ?? 0;
}

function numberOf(event: unknown): number {
  const { statusUpdate } = event as { statusUpdate: { taskId: string } };
  return Number(statusUpdate.taskId.split('-')[1]);
}
