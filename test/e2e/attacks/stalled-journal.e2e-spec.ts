import pg from 'pg';
import type { Task } from '#libs/protocol';
import { rpc, send, sendTask } from '../../support/a2a.js';
import { DatabaseLink } from '../../support/database-link.js';
import { type Parley, startParley } from '../../support/parley.js';
import { freshDatabase, type TestDatabase } from '../../support/postgres.js';
import { metric } from '../../support/service-metrics.js';
import { until } from '../../support/until.js';
import { Api, echo, linear, ruled, unique } from '../../support/workflow.js';

let database: TestDatabase;
let link: DatabaseLink;
let parley: Parley;
let base: string;

beforeAll(async () => {
  database = await freshDatabase();
  link = await DatabaseLink.to(database.url);
  parley = await startParley({ databaseUrl: link.url, env: { JOURNAL_STALL_LIMIT: '5s' } });
  const api = new Api(parley.url);
  const { name } = await api.save(linear(unique('echo'), echo('echo')));
  base = api.base(name, 'echo');
});

afterAll(async () => {
  await parley?.stop();
  await link?.stop();
  await database?.drop();
});

async function readiness(): Promise<{ status: number; body: { error?: Record<string, { message?: string }> } }> {
  const response = await fetch(`${parley.url}/health/ready`);
  return { status: response.status, body: (await response.json()) as never };
}

it('a journal that stands still makes the replica not ready, which says why, refuses what waits, and goes on afterwards', async () => {
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  try {
    await blocker.query('BEGIN; LOCK TABLE task_log IN ACCESS EXCLUSIVE MODE');
    const sent = sendTask(base, 'waits').catch((error: Error) => error.message);
    const refused = await until(
      async () => {
        const told = await readiness();
        return told.status === 503 && told;
      },
      { what: 'the replica not to be ready' },
    );
    expect(refused.body.error?.['journal']?.message).toMatch(/^Nothing was written for \d+ s although \d+ bytes wait$/);
    expect(await metric(parley, 'parley_journal_stall_seconds')).toBeGreaterThan(1);
    expect(await metric(parley, 'parley_journal_bytes')).toBeGreaterThan(0);
    expect(await sent).toContain('MESSAGE_NOT_CONFIRMED');
    await blocker.query('ROLLBACK');
    await until(async () => (await readiness()).status === 200, { what: 'the replica to be ready' });
    await until(async () => (await metric(parley, 'parley_journal_stall_seconds')) === 0, { what: 'no stall' });
    expect((await sendTask(base, 'goes on')).status.state).toBe('TASK_STATE_COMPLETED');
  } finally {
    await blocker.end();
  }
});

it('goes on with a Task whose answer was stored after its caller had been told that it may be', async () => {
  const rules = [{ when: { turn: 1 }, steps: [{ ask: 'and then?' }] }];
  const { name } = await new Api(parley.url).save(linear(unique('asks'), ruled('asks', rules, [{ complete: 'done' }])));
  const asking = `${parley.url}/a2a/workflows/${name}/nodes/asks`;
  const { id: taskId, contextId } = await sendTask(asking, 'begin');
  const blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
  try {
    // Reads go on: the answer claims its Task, and its batch waits here with the Task's row in hand.
    await blocker.query('BEGIN; LOCK TABLE task_log IN SHARE MODE');
    const options = { fields: { taskId, contextId }, headers: { 'idempotency-key': unique('key') } };
    const answered = sendTask(asking, 'the answer', options).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
    expect(await answered).toContain('MESSAGE_NOT_CONFIRMED');
    await blocker.query('ROLLBACK');
    const state = async (): Promise<string | undefined> =>
      (await rpc<Task>(asking, 'GetTask', { id: taskId })).body.result?.status.state;
    await until(async () => (await state()) === 'TASK_STATE_COMPLETED', { what: 'the Task to end' });
  } finally {
    await blocker.end();
  }
});

it('a Message that breaks the connection to the database fails alone', async () => {
  const poison = 'the text that no database takes';
  link.breakOn(poison);
  const others = Array.from({ length: 20 }, (_, index) => sendTask(base, `text ${index}`));
  const poisoned = send(base, poison).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
  expect((await Promise.all(others)).map(({ status }) => status.state)).toEqual(
    others.map(() => 'TASK_STATE_COMPLETED'),
  );
  expect(await poisoned).toMatch(/Internal error|MESSAGE_NOT_CONFIRMED/);
  expect((await sendTask(base, 'afterwards')).status.state).toBe('TASK_STATE_COMPLETED');
  const [stored] = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM task_event WHERE payload::text LIKE $1',
    [`%${poison}%`],
  );
  expect(stored?.count).toBe(0);
});
