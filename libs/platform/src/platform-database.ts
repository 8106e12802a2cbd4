import { Logger } from '@nestjs/common';
import type { AppConfig } from './config/app-config.js';
import { Database, type EntityClass, type MigrationClass } from './database/database.js';
import type { Readiness } from './operations/readiness.js';
import type { Shutdown } from './operations/shutdown.js';
import { EmbeddedPostgres } from './postgres/embedded-postgres.js';

/** The database that the configuration names, migrated and watched: `DATABASE_URL`, else the embedded PostgreSQL. */
export async function openDatabase(
  config: AppConfig,
  migrations: readonly MigrationClass[],
  entities: readonly EntityClass[],
  shutdown: Shutdown,
  readiness: Readiness,
): Promise<Database> {
  const logger = new Logger(Database.name);
  const embedded = config.databaseUrl ? undefined : await startEmbedded(config.dataDir, logger);
  const url = config.databaseUrl ?? embedded!.url;
  const onError = (error: Error) => logger.warn({ err: error }, 'A database session broke');
  const database = await Database.open({ url, migrations, entities, onError }).catch(async (error: unknown) => {
    await embedded?.stop();
    throw error;
  });
  readiness.add('database', () => database.ping());
  shutdown.register('database', () => database.close());
  if (embedded) shutdown.register('server', () => embedded.stop());
  return database;
}

function startEmbedded(dataDir: string, logger: Logger): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.start({
    dataDir,
    onRevival: (problem) =>
      logger.warn(
        { err: problem },
        problem
          ? 'The embedded PostgreSQL does not start again yet'
          : 'The embedded PostgreSQL has died; starting it again',
      ),
  });
}
