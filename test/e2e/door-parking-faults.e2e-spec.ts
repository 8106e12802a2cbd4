import { isTerminalState, type Task } from '#libs/protocol';
import { getTask, sendTask } from '../support/a2a.js';
import { DatabaseLink } from '../support/database-link.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { type Parley, startParley } from '../support/parley.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';

const TOKEN = 'x-a2a-notification-token';
const SIGNATURE = 'x-a2a-notification-signature';
/** More Tasks than one statement of the polls may choose from. */
const MANY = 10_500;
const HOUR_MS = 3_600_000;

// No agent reaches the webhooks: only tests and polls wake Tasks.
const PUBLIC_URL = 'http://127.0.0.1:1';
const stage = useStage({ env: { PUBLIC_URL } });

async function parkTask(service: Parley, policy = {}): Promise<{ agent: DoorAgent; base: string; id: string }> {
  const agent = await DoorAgent.start({ push: true });
  stage.defer(() => agent.end());
  const { base } = await openDoor(service.url, agent.url, { policy: { park: 1, ...policy } });
  const { id } = await sendTask(base, 'hold', { configuration: { returnImmediately: true } });
  await until(() => postpone(id), { what: 'the task to be parked' });
  return { agent, base, id };
}

/** Postpones the poll of a Task. @returns true if the Task is parked */
async function postpone(id: string): Promise<boolean> {
  const sql = `UPDATE registered_agent_task SET poll_at = now() + interval '1 day'
    WHERE task_id = $1 AND poll_at IS NOT NULL RETURNING task_id`;
  return (await stage.database.query(sql, [id])).length === 1;
}

async function endOf(base: string, id: string): Promise<Task> {
  const ended = async (): Promise<Task | undefined> => {
    const task = await getTask(base, id);
    return isTerminalState(task.status.state) ? task : undefined;
  };
  return until(ended, { what: 'the task to end' });
}

/** Copies a parked Task many times. The polls of the copies have been due for long. */
async function copyTask(id: string): Promise<void> {
  for (const [table, due] of [
    ['task', ''],
    ['registered_agent_task', `, 'poll_at', now() - interval '1 day', 'webhook', null`],
  ])
    await stage.database.query(
      `INSERT INTO ${table} SELECT copy.* FROM ${table} AS row, generate_series(1, ${MANY}) AS number,
         jsonb_populate_record(row, jsonb_build_object('task_id', row.task_id || '-' || number${due})) AS copy
       WHERE row.task_id = $1`,
      [id],
    );
}

it('is polled in turn, however many Tasks of an agent that does not answer are due', async () => {
  const silent = await parkTask(stage.parley);
  const answered = Promise.withResolvers<void>();
  stage.defer(() => answered.resolve());
  silent.agent.onRead = () => answered.promise;
  const lively = await parkTask(stage.parley);
  lively.agent.release();
  await copyTask(silent.id);
  await stage.database.query('UPDATE registered_agent_task SET poll_at = now() WHERE task_id = $1', [lively.id]);
  expect((await endOf(lively.base, lively.id)).status.state).toBe('TASK_STATE_COMPLETED');
  const sql = `SELECT count(*)::int AS due FROM registered_agent_task WHERE poll_at < now() - interval '1 hour'`;
  const [left] = await stage.database.query<{ due: number }>(sql);
  expect(left!.due).toBeGreaterThan(MANY - 500);
  await stage.database.query("DELETE FROM registered_agent_task WHERE task_id LIKE '%-%-%-%-%-%'");
});

it('is not canceled at a deleted agent once the name is registered again', async () => {
  const { agent, base, id } = await parkTask(stage.parley);
  const successor = await DoorAgent.start({ push: true });
  stage.defer(() => successor.end());
  const name = new URL(base).pathname.split('/').at(-1);
  await stage.database.query(`
    CREATE FUNCTION register_again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO registered_agent (tenant, name, url, auth, policy, card)
      VALUES (OLD.tenant, OLD.name, '${successor.url}', OLD.auth, OLD.policy, OLD.card);
      RETURN NULL;
    END $$;
    CREATE TRIGGER register_again AFTER DELETE ON registered_agent FOR EACH ROW
      WHEN (OLD.name = '${name}') EXECUTE FUNCTION register_again()`);
  const deleted = await fetch(`${stage.parley.url}/api/agents/${name}`, { method: 'DELETE' });
  expect(deleted.status).toBe(204);
  await endOf(base, id);
  expect(agent.holding).toHaveLength(1);
});

describe('a signed notification while the database is away', () => {
  let link: DatabaseLink;
  let service: Parley;

  beforeAll(async () => {
    link = await DatabaseLink.to(stage.database.url);
    service = await startParley({ databaseUrl: link.url, env: { PUBLIC_URL } });
    stage.defer(async () => {
      link.mend();
      await service.stop();
      await link.stop();
    });
  });

  it('waits for a moment, and is else to be repeated', async () => {
    const { agent } = await parkTask(service);
    const { url, token } = agent.webhooks[0]!;
    const headers = { [TOKEN]: token, [SIGNATURE]: 'e30..e30' };
    const notify = () => fetch(`${service.url}${new URL(url).pathname}`, { method: 'POST', headers, body: '{}' });
    link.cut();
    const refused = link.nextRefusal();
    const waiting = notify();
    await refused;
    link.mend();
    // The signature is wrong, which only the database can tell.
    expect((await waiting).status).toBe(403);
    link.cut();
    const { status, headers: answered } = await notify();
    expect([status, answered.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    link.mend();
  });
});

it('has its time limit by the clock of the database, also at a replica whose clock is ahead', async () => {
  const { agent, base, id } = await parkTask(stage.parley, { limit: 1_800 });
  const clock = new ShiftedClock(HOUR_MS);
  stage.defer(() => clock.remove());
  await stage.parley.stop();
  const ahead = await startParley({ databaseUrl: stage.database.url, env: { PUBLIC_URL, ...clock.env } });
  stage.defer(() => ahead.stop());
  const { url, token } = agent.webhooks[0]!;
  const there = base.replace(stage.parley.url, ahead.url);
  const notify = () => fetch(`${ahead.url}${new URL(url).pathname}`, { method: 'POST', headers: { [TOKEN]: token } });
  expect((await notify()).status).toBe(204);
  // It follows the agent again, and has not run out of time.
  await until(async () => agent.webhooks.length > 1 && postpone(id), { what: 'the task to be parked again' });
  agent.release();
  await stage.database.query('UPDATE registered_agent_task SET poll_at = now() WHERE task_id = $1', [id]);
  expect((await endOf(there, id)).status.state).toBe('TASK_STATE_COMPLETED');
});
