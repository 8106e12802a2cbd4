import { type DynamicModule, Module } from '@nestjs/common';
import { Logger } from 'nestjs-pino';
import { createHash } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AppConfig, Metrics, Readiness, Shutdown } from '#libs/service';
import { Database, type MigrationClass } from './database/database.js';
import { openDatabase } from './database/open-database.js';
import { POSTGRES_MIGRATIONS } from './postgres-migrations.js';
import { ReplicaLife } from './replica/replica-life.js';
import { openSecretBox, SecretBox, serviceSecret } from './secrets/secret-box.js';
import { ChannelSignals } from './signals/channel-signals.js';
import { ReplicaSignals } from './signals/replica-signals.js';
import { NatsWire, PostgresWire, type SignalWire } from './signals/signal-wire.js';

/** Name of the service secret whose value distinguishes the signals of this database from those of other databases. */
const SCOPE = 'signals';

/** Opens the transport of this service's signals: `SIGNALS_URL`, else the database. */
async function openWire({ signalsUrl }: AppConfig, database: Database): Promise<SignalWire> {
  if (signalsUrl === undefined) return new PostgresWire(database);
  const secret = await serviceSecret(database, SCOPE);
  return new NatsWire(signalsUrl, createHash('sha256').update(secret).digest('hex').slice(0, 24));
}

export interface PostgresOptions {
  /** Migrations of every library that owns tables; those of this library are added. */
  migrations: readonly MigrationClass[];
  /**
   * Queries that each return a row if work is under way for which the service calls others by itself. A copied database
   * with such work is not served without adoption.
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
          inject: [AppConfig, Shutdown, Readiness, Logger],
          useFactory: (config: AppConfig, shutdown: Shutdown, readiness: Readiness, log: Logger) =>
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
