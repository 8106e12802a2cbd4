import type { Database } from '#libs/postgres';
import { submittedTask, userMessage } from '#libs/protocol';
import { InFlight, loadConfig, Metrics } from '#libs/service';
import { PostgresTaskStore, TaskFeed, TaskJournal, TaskMetrics, TaskRecorder, type TaskRecording } from '#libs/tasks';
import { openTaskDatabase } from './task-database.js';
import { newDraft } from './task-draft.js';
import type { TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

let server: TestDatabase;
let database: Database;
let recorder: TaskRecorder;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  const [config, metrics, store] = [loadConfig({}), new Metrics(), new PostgresTaskStore(database)];
  const journal = new TaskJournal(store, new TaskMetrics(metrics), config);
  recorder = new TaskRecorder(journal, new TaskFeed(store), new InFlight(config, metrics), config);
  await server.query('CREATE TABLE fault (task_id text, code text)');
  await server.query(`
    CREATE FUNCTION fail_entry() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE failing text;
    BEGIN
      SELECT code INTO failing FROM fault WHERE fault.task_id IN (NEW.task_id, 'every task');
      IF failing = 'hangs' THEN PERFORM pg_advisory_xact_lock(4711); END IF;
      IF FOUND THEN RAISE EXCEPTION 'injected' USING ERRCODE = failing; END IF;
      RETURN NEW;
    END $$`);
  await server.query('CREATE TRIGGER failing BEFORE INSERT ON task_log FOR EACH ROW EXECUTE FUNCTION fail_entry()');
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

/** Records the first event of a new Task. */
function begin(draft = newDraft()): TaskRecording {
  const { header } = draft.created().create!;
  const recording = recorder.createRecording({ header, replicaId: 'replica' }, draft.token);
  recording.recordEvent({ task: submittedTask(draft, userMessage('go')) });
  return recording;
}

async function failWith(code: string, taskId: string): Promise<void> {
  await server.query('INSERT INTO fault (task_id, code) VALUES ($1, $2)', [taskId, code]);
}

it.each(['40001', '42P01', '53200', '54001', '57014', '58030'])(
  'where PostgreSQL raises %s for one entry of a batch, all others are written, and that one when it can be',
  async (code) => {
    const failing = newDraft();
    await failWith(code, failing.taskId);
    const bad = begin(failing);
    const others = Array.from({ length: 9 }, () => begin());
    await Promise.all(others.map((recording) => recording.flushEvents()));
    expect([bad.backlog, bad.failure]).toEqual([1, undefined]);
    await server.query('DELETE FROM fault');
    await bad.flushEvents();
  },
);

it('where the statement that tries an entry again hangs, and fails then, all others are written meanwhile', async () => {
  const failing = newDraft();
  await failWith('53400', failing.taskId);
  const [bad, other] = [begin(failing), begin()];
  await other.flushEvents();
  const session = await database.pool.connect();
  await session.query('SELECT pg_advisory_lock(4711)');
  await server.query(`UPDATE fault SET code = 'hangs'`);
  const hanging = `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()`;
  await until(async () => (await server.query(hanging)).length === 1, { what: 'the entry to be tried again' });
  for (let batch = 0; batch < 3; batch += 1) await begin().flushEvents();
  expect(await server.query(hanging)).toHaveLength(1);
  expect([bad.backlog, bad.failure]).toEqual([1, undefined]);
  await server.query('DELETE FROM fault');
  await session.query('SELECT pg_advisory_unlock(4711)');
  session.release();
  await bad.flushEvents();
});

it.each(['54000', '42501', '0A000'])('where PostgreSQL raises %s for every write, no Task fails', async (code) => {
  await failWith(code, 'every task');
  const recordings = Array.from({ length: 9 }, () => begin());
  const refusals = async (): Promise<number> =>
    Number(
      (await server.query(`SELECT xact_rollback AS n FROM pg_stat_database WHERE datname = current_database()`))[0]![
        'n'
      ],
    );
  const before = await refusals();
  await until(async () => (await refusals()) > before + 10, { what: 'statements to fail' });
  expect(recordings.map(({ failure }) => failure)).toEqual(recordings.map(() => undefined));
  await server.query('DELETE FROM fault');
  await Promise.all(recordings.map((recording) => recording.flushEvents()));
});
