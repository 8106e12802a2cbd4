import { Logger } from '@nestjs/common';
import type { Logger as PinoLogger } from 'nestjs-pino';
import type { AppConfig, Readiness, Shutdown } from '#libs/service';
import { EmbeddedPostgres } from '../embedded/embedded-postgres.js';
import { recognizeInstallation } from '../installation/installation.js';
import { probeDatabase } from './database-probe.js';
import { Database, type MigrationClass } from './database.js';

/** Content and pending work of a database. */
export interface DatabaseContent {
  migrations: readonly MigrationClass[];
  /** Queries for work under way (see PostgresOptions). */
  underWay: readonly string[];
}

/**
 * Opens the configured database, migrated and watched: `DATABASE_URL`, else the embedded PostgreSQL.
 * - An unusable database is refused before anything is changed in it.
 * - A copy of another database is refused if work is under way in it.
 * @param startLog logger for startup, while Nest's own logger is still silent
 */
export async function openDatabase(
  config: AppConfig,
  { migrations, underWay }: DatabaseContent,
  shutdown: Shutdown,
  readiness: Readiness,
  startLog: Pick<PinoLogger, 'warn'>,
): Promise<Database> {
  const logger = new Logger(Database.name);
  const poolUrl = config.databasePoolUrl;
  if (config.databaseUrl) await probeDatabase(config.databaseUrl, poolUrl);
  const onError = (error: Error) => logger.warn({ err: error }, 'A database session broke');
  const server = config.databaseUrl ? undefined : startEmbedded(config.dataDir, logger, startLog);
  const opening = (async () => {
    const url = config.databaseUrl ?? (await server!).url;
    const database = await Database.connectAndMigrate({ url, poolUrl, migrations, onError });
    await recognizeDatabase(database, config, underWay, startLog);
    return database;
  })();
  // Register the steps before the servers have started: the startup may fail elsewhere meanwhile.
  shutdown.registerStep('database', async () => (await awaitQuietly(opening))?.close());
  if (server) shutdown.registerStep('server', async () => (await awaitQuietly(server))?.stop());
  const database = await opening.catch(async (error: unknown) => {
    await (await awaitQuietly(server))?.stop();
    throw error;
  });
  readiness.add('database', () => database.ping());
  return database;
}

async function recognizeDatabase(
  database: Database,
  { databaseUrl, dataDir, adoptDatabase: adopted }: AppConfig,
  underWay: readonly string[],
  startLog: Pick<PinoLogger, 'warn'>,
): Promise<void> {
  const onMoved = (sentence: string): void => startLog.warn(sentence, Database.name);
  try {
    await recognizeInstallation(database.pool, { databaseUrl, dataDir, adopted, underWay, onMoved });
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Returns the result of `beginning`, or `undefined` if it is absent or has failed. Never rejects: the starter of
 * `beginning` reports the failure.
 */
async function awaitQuietly<T>(beginning: Promise<T> | undefined): Promise<T | undefined> {
  return beginning?.catch(() => undefined);
}

function startEmbedded(dataDir: string, logger: Logger, startLog: Pick<PinoLogger, 'warn'>): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.start({
    dataDir,
    onWarning: (warning) => startLog.warn(warning, Database.name),
    onRevival: (problem) =>
      logger.warn(
        { err: problem },
        problem
          ? 'The embedded PostgreSQL could not be restarted yet; retrying'
          : 'The embedded PostgreSQL has died; restarting it',
      ),
  });
}
