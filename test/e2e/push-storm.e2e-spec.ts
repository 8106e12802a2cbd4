import pg from 'pg';
import { rpc, sendTask } from '../support/a2a.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { type Parley, startParley } from '../support/parley.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Api, linear, ruled, unique } from '../support/workflow.js';

/** Together they have more origins than this PostgreSQL has locks for (some 4,000). */
const MANY = 450;
/** So many, where each Task has a batch of its own. */
const SOME = 120;
const WEBHOOKS = 10;

let postgres: OwnPostgres;
let database: pg.Client;
let parley: Parley;
let hook: WebhookReceiver;

beforeAll(async () => {
  postgres = await OwnPostgres.start();
  const session = await connected();
  await session.query('ALTER SYSTEM SET max_locks_per_transaction = 10');
  await session.end();
  await postgres.crash();
  await postgres.restart();
  database = await connected();
  parley = await startParley({ databaseUrl: postgres.url });
  hook = await WebhookReceiver.start();
});

afterAll(async () => {
  await parley?.stop();
  await hook?.stop();
  await database?.end().catch(() => undefined);
  await postgres?.stop();
});

it.each([
  ['one after the other', SOME, false],
  ['in one batch, after the journal stood still', MANY, true],
])(
  'hundreds of Tasks with webhooks at thousands of origins end %s, and others are answered',
  async (_how, count, stalls) => {
    const base = await scripted();
    const ids = await waitingTasks(base, count);
    const release = stalls ? await stall() : undefined;
    const ends = Promise.all(
      ids.map((taskId) => rpc(base, 'SendMessage', { message: { ...said(), taskId }, configuration: AT_ONCE })),
    );
    if (release) {
      await until(async () => (await waitingForLock()) > 0, { what: 'the journal to stand still' });
      await release();
    }
    // It is answered while they end, whatever comes of their webhooks.
    const other = await sendTask(await scripted(), 'go');
    expect(other.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    for (const { body } of await ends) expect(body.error).toBeUndefined();
    await until(async () => (await completed(ids)) === count, { what: 'all Tasks to end' });
    // What is to be told of the others is told to nobody.
    await database.query(`DELETE FROM push_config WHERE config_id <> 'heard'`);
    await until(() => hook.story.filter((it) => it === 'TASK_STATE_COMPLETED').length === count, {
      what: 'every Task to tell its end',
    });
    hook.received.length = 0;
    expect(parley.logs()).not.toContain('out of shared memory');
  },
);

const AT_ONCE = { returnImmediately: true };

function said(): { messageId: string; role: string; parts: object[] } {
  return { messageId: unique('m'), role: 'ROLE_USER', parts: [{ text: 'more' }] };
}

/** Tasks that wait for a Message, with a webhook each that hears of them, and nine at origins of their own. */
async function waitingTasks(base: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  const configuration = { taskPushNotificationConfig: { url: hook.url, id: 'heard' } };
  for (let from = 0; from < count; from += 30) {
    const tasks = await Promise.all(Array.from({ length: 30 }, () => sendTask(base, 'go', { configuration })));
    ids.push(...tasks.map(({ id }) => id));
  }
  await database.query(
    `INSERT INTO push_config (push_id, task_id, config_id, tenant, owner, url, receiver, wire_version,
                              delivered_sequence, scheduled, turn)
     SELECT gen_random_uuid()::text, task_id, 'copy' || hook, tenant, owner, origin || '/', origin, '1.0',
            last_sequence, false, 0
     FROM task, generate_series(2, $2::int) AS hook,
          LATERAL (SELECT format('http://127.%s.%s.%s:9', hook, (random() * 250)::int, (random() * 250)::int) AS origin) AS at
     WHERE task_id = ANY($1::text[])`,
    [ids, WEBHOOKS],
  );
  return ids;
}

async function scripted(): Promise<string> {
  const name = unique('storm');
  await new Api(parley.url).save(
    linear(name, ruled('s', [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }], [{ complete: 'done' }])),
  );
  return `${parley.url}/a2a/workflows/${name}/nodes/s`;
}

/** Keeps the journal from writing events. @returns what lets it go on */
async function stall(): Promise<() => Promise<void>> {
  const session = await connected();
  await session.query('BEGIN; LOCK TABLE task_log IN SHARE ROW EXCLUSIVE MODE');
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await session.query('COMMIT');
    await session.end();
  };
}

async function connected(): Promise<pg.Client> {
  const session = new pg.Client({ connectionString: postgres.url });
  session.on('error', () => undefined);
  await session.connect();
  return session;
}

async function waitingForLock(): Promise<number> {
  const { rows } = await database.query(`SELECT FROM pg_locks WHERE NOT granted AND relation = 'task_log'::regclass`);
  return rows.length;
}

async function completed(ids: readonly string[]): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM task WHERE task_id = ANY($1::text[]) AND state = 'TASK_STATE_COMPLETED'`,
    [ids],
  );
  return rows[0]?.count ?? 0;
}
