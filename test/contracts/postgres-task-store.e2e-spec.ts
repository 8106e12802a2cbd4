import { Database } from '#libs/platform';
import { PostgresTaskStore, TASK_MIGRATIONS } from '#libs/tasks';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { describeTaskStore } from './task-store.contract.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await freshDatabase({ empty: true });
  database = await Database.open({ url: server.url, migrations: TASK_MIGRATIONS });
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

describeTaskStore('PostgresTaskStore', () => new PostgresTaskStore(database));
