import type { Database } from '#libs/postgres';
import { submittedTask, userMessage } from '#libs/protocol';
import { InFlight, loadConfig, Metrics } from '#libs/service';
import {
  ClaimLost,
  type JournalEntry,
  PostgresTaskStore,
  TaskFeed,
  TaskJournal,
  TaskMetrics,
  TaskRecorder,
} from '#libs/tasks';
import { EventGate } from '../support/event-gate.js';
import type { TestDatabase } from '../support/postgres.js';
import { range } from '../support/sse.js';
import { until } from '../support/until.js';
import { newDraft } from './task-draft.js';
import { openTaskDatabase } from './task-database.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

function recorderOver(store: PostgresTaskStore): TaskRecorder {
  const [config, metrics] = [loadConfig({}), new Metrics()];
  const journal = new TaskJournal(store, new TaskMetrics(metrics), config);
  return new TaskRecorder(journal, new TaskFeed(store), new InFlight(config, metrics), config);
}

it.each([
  [1, 1],
  [1, 2],
  [2, 1],
])('of two writers of a Task in one process, with %i and %i events at once, one writes', async (ofStale, ofOwner) => {
  const store = new PostgresTaskStore(database);
  const recorder = recorderOver(store);
  const [draft, other] = [newDraft(), newDraft()];
  await store.writeBatch([draft.created(draft.status('TASK_STATE_WORKING')), other.created()]);
  const [stored, beside] = [(await store.loadTask(draft.taskId))!, (await store.loadTask(other.taskId))!];
  const { renewed } = await store.renewClaims([{ taskId: draft.taskId, token: draft.token }]);
  const [stale, owner] = [
    recorder.continueRecording(stored, draft.token),
    recorder.continueRecording(stored, renewed[0]!.token),
  ];
  const another = recorder.continueRecording(beside, other.token);
  for (let n = 0; n < ofStale; n += 1) stale.recordEvent(draft.chunk('stale'));
  for (let n = 0; n < ofOwner; n += 1) owner.recordEvent(draft.chunk('owner'));
  another.recordEvent(other.chunk('beside'));
  const written = await Promise.allSettled([stale.flushEvents(), owner.flushEvents(), another.flushEvents()]);
  expect(written).toMatchObject([{ reason: expect.any(ClaimLost) }, { status: 'fulfilled' }, { status: 'fulfilled' }]);
  owner.recordEvent(draft.status('TASK_STATE_COMPLETED'));
  await owner.flushEvents();
  const { task, header } = (await store.loadTask(draft.taskId))!;
  const texts = task.artifacts?.[0]?.parts.map(({ text }) => text);
  expect([texts, header.lastSequence]).toEqual([Array.from({ length: ofOwner }, () => 'owner'), 3 + ofOwner]);
});

type Outcomes = Awaited<ReturnType<PostgresTaskStore['writeBatch']>>;

/** A store whose first batch commits late, at a server that has not noticed that its connection broke. */
class LateStore extends PostgresTaskStore {
  first: Promise<Outcomes> | undefined;
  tries = 0;

  constructor(
    database: Database,
    private readonly gate: EventGate,
  ) {
    super(database);
  }

  override writeBatch(batch: readonly JournalEntry[]): Promise<Outcomes> {
    this.tries += 1;
    if (this.first) return super.writeBatch(batch);
    this.first = new PostgresTaskStore(database).writeBatch(batch);
    return Promise.reject(new Error('Connection terminated unexpectedly'));
  }

  override probeWrite(): Promise<void> {
    return this.gate.reached();
  }
}

it('a first try that commits late and its repetition write once', async () => {
  const gate = await EventGate.holding(server, 'held back');
  const store = new LateStore(database, gate);
  const recorder = recorderOver(store);
  const [draft, made] = [newDraft(), newDraft()];
  await new PostgresTaskStore(database).writeBatch([draft.created(draft.status('TASK_STATE_WORKING'))]);
  const going = recorder.continueRecording((await store.loadTask(draft.taskId))!, draft.token);
  const { header } = made.created().create!;
  const begun = recorder.createRecording({ header, replicaId: 'replica' }, made.token);
  begun.recordEvent({ task: submittedTask(made, userMessage('go')) });
  for (const text of ['a', 'held back', 'b']) going.recordEvent(draft.chunk(text));
  begun.recordEvent(made.chunk('c'));
  const written = Promise.all([going.flushEvents(), begun.flushEvents()]);
  await until(isWaitingForAnother, { what: 'the repetition to wait for the first try' });
  await gate.end();
  await written;
  expect([await store.first, store.tries]).toEqual([['written', 'written'], 2]);
  going.recordEvent(draft.status('TASK_STATE_COMPLETED'));
  begun.recordEvent(made.status('TASK_STATE_COMPLETED'));
  await Promise.all([going.flushEvents(), begun.flushEvents()]);
  for (const [taskId, texts] of [
    [draft.taskId, ['a', 'held back', 'b']],
    [made.taskId, ['c']],
  ] as const) {
    const { task, header: stored } = (await store.loadTask(taskId))!;
    expect(task.artifacts?.[0]?.parts.map(({ text }) => text)).toEqual(texts);
    const events = await store.readEvents(taskId, 0, 100);
    expect(events.map(({ sequence }) => sequence)).toEqual(range(1, stored.lastSequence));
  }
});

it('a batch that waits for a key has kept none that comes after it', async () => {
  const [first, second] = ['a', 'b'].map((key) => ({ key, entry: underKey(newDraft().created(), key) }));
  const other = await database.pool.connect();
  const keep = (key: string): Promise<unknown> =>
    other.query(
      `INSERT INTO task_key (task_id, tenant, owner, agent, key, fingerprint, created_at)
       VALUES ('other', '', '', 'workflows/w', $1, 'f', now())`,
      [key],
    );
  await other.query('BEGIN');
  await keep(first!.key);
  const written = new PostgresTaskStore(database).writeBatch([second!.entry, first!.entry]);
  await until(isWaitingForAnother, { what: 'the batch to wait for the other one' });
  await keep(second!.key);
  await other.query('ROLLBACK');
  other.release();
  expect(await written).toEqual(['written', 'written']);
});

function underKey(entry: JournalEntry, key: string): JournalEntry {
  return { ...entry, create: { ...entry.create!, idempotency: { key, fingerprint: 'f' } } };
}

async function isWaitingForAnother(): Promise<boolean> {
  const waiting = await server.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'`,
  );
  return waiting.length > 0;
}
