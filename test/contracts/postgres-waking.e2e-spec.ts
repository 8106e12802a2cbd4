import { JOB_MIGRATIONS } from '#libs/job-queue';
import { callerFlag } from '#libs/jobs';
import type { Database } from '#libs/postgres';
import { PostgresTaskStore } from '#libs/tasks';
import { WORKFLOW_MIGRATIONS } from '#libs/workflows';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';
import { newDraft } from './task-draft.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase([...JOB_MIGRATIONS, ...WORKFLOW_MIGRATIONS]));
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

it('a run that waits is woken by a job of its caller when its child moves on', async () => {
  const store = new PostgresTaskStore(database);
  const [run, child] = [newDraft({ owner: 'me' }), newDraft({ owner: 'another' })];
  await store.writeBatch([
    run.created(run.status('TASK_STATE_INPUT_REQUIRED')),
    child.created(child.status('TASK_STATE_INPUT_REQUIRED')),
  ]);
  await server.query(`UPDATE task SET parent_task_id = $1 WHERE task_id = $2`, [run.taskId, child.taskId]);
  await store.claimTask(child.taskId, 'r', 'k');
  await store.writeBatch([child.continued('k', 2, child.status('TASK_STATE_WORKING'))]);
  const jobs = await server.query('SELECT key, flags FROM graphile_worker._private_jobs');
  const flags = { [callerFlag({ tenant: '', owner: 'me' })]: true };
  expect(jobs).toEqual([{ key: `tasks.wake/${run.taskId}`, flags }]);
});
