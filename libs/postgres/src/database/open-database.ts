import { Logger } from '@nestjs/common';
import type { Logger as PinoLogger } from 'nestjs-pino';
import type { AppConfig, Readiness, Shutdown } from '#libs/service';
import { probeDatabase } from './database-probe.js';
import { Database } from './database.js';
import type { MigrationClass } from './migrate.js';
import { EmbeddedPostgres } from '../embedded/embedded-postgres.js';

/**
 * The database that the configuration names, migrated and watched: `DATABASE_URL`, else the embedded PostgreSQL. What
 * cannot serve is refused before anything is changed there.
 * @param startLog where Nest's own logger, which is silent until the application stands, would say nothing
 */
export async function openDatabase(
  config: AppConfig,
  migrations: readonly MigrationClass[],
  shutdown: Shutdown,
  readiness: Readiness,
  startLog: Pick<PinoLogger, 'warn'>,
): Promise<Database> {
  const logger = new Logger(Database.name);
  const poolUrl = config.databasePoolUrl;
  if (config.databaseUrl) await probeDatabase(config.databaseUrl, poolUrl);
  const embedded = config.databaseUrl ? undefined : await startEmbedded(config.dataDir, logger, startLog);
  const url = config.databaseUrl ?? embedded!.url;
  const onError = (error: Error) => logger.warn({ err: error }, 'A database session broke');
  const database = await Database.open({ url, poolUrl, migrations, onError }).catch(async (error: unknown) => {
    await embedded?.stop();
    throw error;
  });
  readiness.add('database', () => database.ping());
  shutdown.register('database', () => database.close());
  if (embedded) shutdown.register('server', () => embedded.stop());
  return database;
}

function startEmbedded(dataDir: string, logger: Logger, startLog: Pick<PinoLogger, 'warn'>): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.start({
    dataDir,
    onWarning: (warning) => startLog.warn(warning, Database.name),
    onRevival: (problem) =>
      logger.warn(
        { err: problem },
        problem
          ? 'The embedded PostgreSQL does not start again yet'
          : 'The embedded PostgreSQL has died; starting it again',
      ),
  });
}
