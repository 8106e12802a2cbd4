import { Logger } from '@nestjs/common';
import { Database, type Job, migrateJobQueue, PLATFORM_MIGRATIONS } from '#libs/platform';
import { PostgresTaskStore, TASK_MIGRATIONS } from '#libs/tasks';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { StatementFaults } from '../support/statement-faults.js';
import { newDraft } from './task-draft.js';
import { describeTaskStore } from './task-store.contract.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  Logger.overrideLogger(false);
  server = await freshDatabase({ empty: true });
  database = await Database.open({ url: server.url, migrations: [...PLATFORM_MIGRATIONS, ...TASK_MIGRATIONS] });
  await migrateJobQueue(database);
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

describeTaskStore('PostgresTaskStore', () => new PostgresTaskStore(database));

describe('PostgresTaskStore when a statement fails', () => {
  it.each(['UPDATE', 'FROM task_event'])('gives a claim back: %s', async (statement) => {
    const faults = new StatementFaults(database);
    const store = new PostgresTaskStore(database);
    const draft = newDraft();
    await store.write([draft.created(draft.status('TASK_STATE_INPUT_REQUIRED'))]);
    faults.fail(1, 'unanswered', new RegExp(statement));
    const replicaId = `claimant of ${draft.taskId}`;
    await expect(store.claim(draft.taskId, replicaId, 'mine')).rejects.toThrow('Connection terminated');
    expect(await store.claims(replicaId)).toEqual([]);
    expect(await store.claim(draft.taskId, replicaId, 'again')).toBeDefined();
  });
});

describe('PostgresTaskStore with jobs', () => {
  const job = (n: number, fields: Partial<Job> = {}): Job => ({
    name: 'later',
    payload: { n, text: '"\\\u0000é' },
    ...fields,
  });
  const jobs = () =>
    server.query(`SELECT payload, key, run_at, max_attempts, priority FROM graphile_worker._private_jobs ORDER BY id`);

  it('enqueues what its entries want, and nothing of those that are fenced', async () => {
    const store = new PostgresTaskStore(database);
    const runAt = new Date('2031-02-03T04:05:06.789Z');
    const [made, fenced, keyed, again, plain] = Array.from({ length: 5 }, () => newDraft());
    await store.write([made!.created()]);
    const idempotent = (draft: ReturnType<typeof newDraft>, n: number) => {
      const entry = draft.created();
      return { ...entry, create: { ...entry.create!, idempotency: { key: 'jobs', fingerprint: 'f' } }, jobs: [job(n)] };
    };
    const outcomes = await store.write([
      {
        ...made!.continued(made!.token, 1, made!.status('TASK_STATE_COMPLETED')),
        jobs: [job(1), job(2, { key: 'k', runAt, maxAttempts: 3, priority: -1 })],
      },
      { ...fenced!.continued('another token', 1, fenced!.status('TASK_STATE_WORKING')), jobs: [job(3)] },
      idempotent(keyed!, 4),
      idempotent(again!, 5),
      plain!.created(),
    ]);
    expect(outcomes).toEqual(['written', 'fenced', 'written', 'fenced', 'written']);
    const usual = { key: null, run_at: expect.any(Date), max_attempts: 10, priority: 0 };
    expect(await jobs()).toEqual([
      { payload: job(1).payload, ...usual },
      { payload: job(2).payload, key: 'k', run_at: runAt, max_attempts: 3, priority: -1 },
      { payload: job(4).payload, ...usual },
    ]);
    const late = { ...made!.continued(made!.token, 2, made!.status('TASK_STATE_WORKING')), jobs: [job(6)] };
    expect(await store.write([late])).toEqual(['fenced']);
    expect(await jobs()).toHaveLength(3);
  });
});
