import type { Database } from '#libs/postgres';
import { PostgresTaskStore, TASK_MIGRATIONS } from '#libs/tasks';
import type { TestDatabase } from '../support/postgres.js';
import { newDraft } from './task-draft.js';
import { openTaskDatabase } from './task-database.js';

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  store = new PostgresTaskStore(database);
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

describe('Children of a Task in PostgreSQL', () => {
  it('are found while batches are always under way, and with them those that were sent before', async () => {
    const parent = newDraft();
    await store.writeBatch([parent.created(parent.status('TASK_STATE_WORKING'))]);
    let going = true;
    const writing = [1, 2].map(async () => {
      while (going) await store.writeBatch([newDraft().created()]);
    });
    const child = newDraft({ parentTaskId: parent.taskId, parentReference: 'n#1', parentToken: parent.token });
    const made = store.writeBatch([child.created()]);
    const found = await store.recordedChildren(parent.taskId);
    going = false;
    await Promise.all([made, ...writing]);
    expect(found.map(({ taskId }) => taskId)).toEqual([child.taskId]);
  });

  it('are not made where their own parent is not, in the same batch', async () => {
    const caller = newDraft();
    await store.writeBatch([caller.created(caller.status('TASK_STATE_WORKING'))]);
    const family = (parentToken: string) => {
      const parent = newDraft({ parentTaskId: caller.taskId, parentToken });
      const child = newDraft({ parentTaskId: parent.taskId, parentToken: parent.token });
      return [child.created(), parent.created(parent.status('TASK_STATE_WORKING'))];
    };
    expect(await store.writeBatch(family('lost'))).toEqual(['fenced', 'fenced']);
    expect(await store.writeBatch(family(caller.token))).toEqual(['written', 'written']);
  });
});

it('has Tasks at work made due that an earlier version left to nobody', async () => {
  const [left, claimed] = [newDraft(), newDraft()];
  await store.writeBatch([left.created(), claimed.created()]);
  await server.query('UPDATE task SET replica_id = NULL, claim_token = NULL WHERE task_id = $1', [left.taskId]);
  const wake = TASK_MIGRATIONS.find(({ name }) => name.startsWith('WakeStrandedTasks'))!;
  await new wake().up({ query: (text: string) => server.query(text) } as never);
  const due = await store.findOverdue(0, 1_000);
  expect(due).toContain(left.taskId);
  expect(due).not.toContain(claimed.taskId);
  expect(await store.claimTask(left.taskId, 'r', 'a token', 'due')).toBeDefined();
});
