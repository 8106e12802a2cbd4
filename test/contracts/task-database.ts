import { Logger } from '@nestjs/common';
import { migrateJobQueue } from '#libs/job-queue';
import { Database, POSTGRES_MIGRATIONS } from '#libs/postgres';
import { TASK_MIGRATIONS } from '#libs/tasks';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';

/**
 * A new database with the tables of Tasks and of jobs; whoever opens it closes `database` and drops `server`.
 * @param more migrations beside those
 */
export async function openTaskDatabase(
  more: Parameters<typeof Database.connectAndMigrate>[0]['migrations'] = [],
): Promise<{ server: TestDatabase; database: Database }> {
  Logger.overrideLogger(false);
  const server = await freshDatabase({ empty: true });
  const migrations = [...POSTGRES_MIGRATIONS, ...TASK_MIGRATIONS, ...more];
  const database = await Database.connectAndMigrate({ url: server.url, migrations });
  await migrateJobQueue(database);
  return { server, database };
}
