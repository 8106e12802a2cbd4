import { type DynamicModule, Module } from '@nestjs/common';
import { Logger } from 'nestjs-pino';
import { DataSource } from 'typeorm';
import { AppConfig } from './config/app-config.js';
import { Database, type EntityClass, type MigrationClass } from './database/database.js';
import { PLATFORM_MIGRATIONS } from './database/platform-migrations.js';
import { HealthModule } from './operations/health.module.js';
import { HttpConnections } from './operations/http-connections.js';
import { AnswerRoom } from './operations/answer-room.js';
import { InFlight } from './operations/in-flight.js';
import { MemoryRelease } from './operations/memory-release.js';
import { LoggingModule } from './operations/logging.js';
import { Metrics } from './operations/metrics.js';
import { Readiness } from './operations/readiness.js';
import { Shutdown } from './operations/shutdown.js';
import { OutboundHttp } from './outbound/outbound-http.js';
import { openDatabase } from './platform-database.js';
import { ReplicaLife } from './replica/replica-life.js';
import { PostgresSignals } from './signals/postgres-signals.js';
import { ReplicaSignals } from './signals/replica-signals.js';
import { openSecretBox } from './secrets/open-secret-box.js';
import { SecretBox } from './secrets/secret-box.js';
import { ServiceAddress } from './service/service-address.js';
import { JwksController } from './signing/jwks.controller.js';
import { SigningKeys } from './signing/signing-keys.js';

export interface PlatformOptions {
  config: AppConfig;
  /** The migrations of every library that owns tables; the platform's own are added. */
  migrations: readonly MigrationClass[];
  entities?: readonly EntityClass[];
}

/** What any process needs before it has an opinion. Global: whoever imports it once has given it to every module. */
@Module({})
export class PlatformModule {
  static forRoot(options: PlatformOptions): DynamicModule {
    const providers = [AnswerRoom, InFlight, OutboundHttp, Metrics, Readiness, Shutdown, ServiceAddress, SigningKeys];
    return {
      module: PlatformModule,
      global: true,
      imports: [LoggingModule, HealthModule],
      controllers: [JwksController],
      providers: [
        ...providers,
        HttpConnections,
        MemoryRelease,
        { provide: AppConfig, useValue: options.config },
        {
          provide: Database,
          inject: [Shutdown, Readiness, Logger],
          useFactory: (shutdown: Shutdown, readiness: Readiness, log: Logger) =>
            openDatabase(
              options.config,
              [...PLATFORM_MIGRATIONS, ...options.migrations],
              options.entities ?? [],
              shutdown,
              readiness,
              log,
            ),
        },
        { provide: SecretBox, inject: [AppConfig, Database], useFactory: openSecretBox },
        { provide: DataSource, inject: [Database], useFactory: (database: Database) => database.dataSource },
        { provide: ReplicaLife, inject: [Database, Metrics], useFactory: beginReplicaLife },
        { provide: ReplicaSignals, inject: [Database, ReplicaLife, Metrics, Shutdown], useFactory: openSignals },
      ],
      exports: [...providers, AppConfig, Database, SecretBox, DataSource, ReplicaLife, ReplicaSignals],
    };
  }
}

async function beginReplicaLife(database: Database, metrics: Metrics): Promise<ReplicaLife> {
  const life = new ReplicaLife(database);
  await life.begin();
  metrics.gauge('parley_replicas', 'Living replicas, as this one knows them', [], () => life.peers + 1);
  return life;
}

function openSignals(database: Database, life: ReplicaLife, metrics: Metrics, shutdown: Shutdown): ReplicaSignals {
  const signals = new PostgresSignals(database, life, metrics);
  // In this order: whoever hears that this replica has left finds it gone.
  shutdown.register('sessions', async () => {
    await life.end();
    await signals.end();
  });
  return signals;
}
