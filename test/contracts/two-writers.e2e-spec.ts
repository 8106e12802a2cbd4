import { Logger } from '@nestjs/common';
import { migrateJobQueue } from '#libs/jobs';
import { Database, POSTGRES_MIGRATIONS } from '#libs/postgres';
import { InFlight, loadConfig, Metrics } from '#libs/service';
import {
  ClaimLost,
  PostgresTaskStore,
  TASK_MIGRATIONS,
  TaskFeed,
  TaskJournal,
  TaskMetrics,
  TaskRecorder,
} from '#libs/tasks';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { newDraft } from './task-draft.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await freshDatabase({ empty: true });
  database = await Database.open({ url: server.url, migrations: [...POSTGRES_MIGRATIONS, ...TASK_MIGRATIONS] });
  await migrateJobQueue(database);
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
  await store.write([draft.created(draft.status('TASK_STATE_WORKING')), other.created()]);
  const [stored, beside] = [(await store.load(draft.taskId))!, (await store.load(other.taskId))!];
  await store.renew({ taskId: draft.taskId, token: draft.token }, 'owner');
  const [stale, owner] = [recorder.continue(stored, draft.token), recorder.continue(stored, 'owner')];
  const another = recorder.continue(beside, other.token);
  for (let n = 0; n < ofStale; n += 1) stale.record(draft.chunk('stale'));
  for (let n = 0; n < ofOwner; n += 1) owner.record(draft.chunk('owner'));
  another.record(other.chunk('beside'));
  const written = await Promise.allSettled([stale.flush(), owner.flush(), another.flush()]);
  expect(written).toMatchObject([{ reason: expect.any(ClaimLost) }, { status: 'fulfilled' }, { status: 'fulfilled' }]);
  owner.record(draft.status('TASK_STATE_COMPLETED'));
  await owner.flush();
  const { task, header } = (await store.load(draft.taskId))!;
  const texts = task.artifacts?.[0]?.parts.map(({ text }) => text);
  expect([texts, header.lastSequence]).toEqual([Array.from({ length: ofOwner }, () => 'owner'), 3 + ofOwner]);
});
