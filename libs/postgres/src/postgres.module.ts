import { type DynamicModule, Logger, Module } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { Logger as PinoLogger } from 'nestjs-pino';
import { DataSource } from 'typeorm';
import { AppConfig, Metrics, Readiness, Shutdown } from '#libs/service';
import { probeDatabase } from './database/database-probe.js';
import { Database, type MigrationClass } from './database/database.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';
import { recognizeInstallation } from './installation/installation.js';
import { POSTGRES_MIGRATIONS } from './postgres-migrations.js';
import { ReplicaLife } from './replica/replica-life.js';
import { openSecretBox, SecretBox, serviceSecret } from './secrets/secret-box.js';
import { ChannelSignals } from './signals/channel-signals.js';
import { ReplicaSignals } from './signals/replica-signals.js';
import { NatsWire, PostgresWire, type SignalWire } from './signals/signal-wire.js';

/**
 * Name of the service secret whose value distinguishes the signals of this database from the signals of other
 * databases.
 */
const SCOPE = 'signals';

/** Opens the transport of this service's signals: `SIGNALS_URL`, else the database. */
async function openWire({ signalsUrl }: AppConfig, database: Database): Promise<SignalWire> {
  if (signalsUrl === undefined) return new PostgresWire(database);
  const secret = await serviceSecret(database, SCOPE);
  return new NatsWire(signalsUrl, createHash('sha256').update(secret).digest('hex').slice(0, 24));
}

export interface PostgresOptions {
  /** Migrations of every other library that owns tables. The module adds the migrations of this library. */
  migrations: readonly MigrationClass[];
  /**
   * Queries for unfinished work for which the service will call other services; each returns a row if there is such
   * work. If one does, and the database is not the known one (for example a copy), the service refuses to start unless
   * `ADOPT_DATABASE` permits it.
   */
  underWay?: readonly string[];
}

/** Provides the database, its secrets, and this process as one of its replicas. Global; needs ServiceModule. */
@Module({})
export class PostgresModule {
  static forRoot({ migrations, underWay = [] }: PostgresOptions): DynamicModule {
    return {
      module: PostgresModule,
      global: true,
      providers: [
        {
          provide: Database,
          inject: [AppConfig, Shutdown, Readiness, PinoLogger],
          useFactory: (config: AppConfig, shutdown: Shutdown, readiness: Readiness, log: PinoLogger) =>
            openDatabase(
              config,
              { migrations: [...POSTGRES_MIGRATIONS, ...migrations], underWay },
              shutdown,
              readiness,
              log,
            ),
        },
        { provide: SecretBox, inject: [AppConfig, Database], useFactory: openSecretBox },
        { provide: DataSource, inject: [Database], useFactory: (database: Database) => database.dataSource },
        { provide: ReplicaLife, inject: [Database, Metrics], useFactory: beginReplicaLife },
        {
          provide: ReplicaSignals,
          inject: [AppConfig, Database, ReplicaLife, Metrics, Shutdown, Readiness],
          useFactory: openSignals,
        },
      ],
      exports: [Database, SecretBox, DataSource, ReplicaLife, ReplicaSignals],
    };
  }
}

/** Parts of PostgresOptions that describe the content of the database: migrations, and queries for pending work. */
interface DatabaseContent {
  migrations: readonly MigrationClass[];
  /** Queries that find work in progress (see PostgresOptions). */
  underWay: readonly string[];
}

/**
 * Opens the configured database, migrated and watched: `DATABASE_URL`, else the embedded PostgreSQL.
 * - An unusable database is refused before anything is changed in it.
 * - A copy of another database is refused if work is under way in it.
 * @param startLog logger for startup, while Nest's own logger is still silent
 */
async function openDatabase(
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

async function beginReplicaLife(database: Database, metrics: Metrics): Promise<ReplicaLife> {
  const life = new ReplicaLife(database);
  await life.beginLife();
  metrics.gauge('parley_replicas', 'Living replicas, as this one knows them', [], () => life.peers + 1);
  return life;
}

async function openSignals(
  config: AppConfig,
  database: Database,
  life: ReplicaLife,
  metrics: Metrics,
  shutdown: Shutdown,
  readiness: Readiness,
): Promise<ReplicaSignals> {
  const signals = new ChannelSignals(await openWire(config, database), life, metrics);
  // Signals are optional, so requests are accepted without them.
  readiness.addRemark('signals', () => signals.trouble);
  // This order matters: a replica that receives the departure signal must find this one gone.
  shutdown.registerStep('sessions', async () => {
    await life.endLife();
    await signals.endSignals();
  });
  return signals;
}
