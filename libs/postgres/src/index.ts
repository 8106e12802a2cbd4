export { BatchLoader } from './database/batch-loader.js';
export { clientGone, forClient, goneSignal, ReadEnded } from './database/client-presence.js';
export { clientOf } from './database/connection-options.js';
export { encodingProblem } from './database/database-encoding.js';
export { probeDatabase } from './database/database-probe.js';
export { Database } from './database/database.js';
export { classifyWriteFailure, mayBeCommitted, mayBreakSession, StatementNotSent } from './database/failed-write.js';
export { type MigrationClass, takeMigrationLock, tryMigrationLock } from './database/migrate.js';
export { isDatabaseAway, sqlState, retryWhileDatabaseDown, retryWhileUnreachable } from './database/outage.js';
export { SharedReads } from './database/shared-reads.js';
export { inTransaction } from './database/transaction.js';
export { ScramClient } from './database/scram-client.js';
export { EmbeddedPostgres } from './embedded/embedded-postgres.js';
export { PostgresRefusal } from './embedded/postgres-refusal.js';
export { installationTag, moveInstallation } from './installation/installation.js';
export { type RecognitionOptions, recognizeInstallation } from './installation/recognize-installation.js';
export { POSTGRES_MIGRATIONS } from './postgres-migrations.js';
export { PostgresModule } from './postgres.module.js';
export { ReplicaLife } from './replica/replica-life.js';
export { livenessCheckBy } from './replica/replica-liveness.js';
export { expectKey, readSealing, type Sealing, sealingWith } from './secrets/sealing.js';
export { SecretBox, UnreadableSecret } from './secrets/secret-box.js';
export { serviceSecret } from './secrets/service-secret.js';
export { ChannelSignals } from './signals/channel-signals.js';
export { NatsWire } from './signals/nats-wire.js';
export { PostgresWire } from './signals/postgres-wire.js';
export {
  NO_KEY,
  REPLICA_LEFT,
  ReplicaSignals,
  type SignalHandler,
  type SignalSubscription,
  type SignalTopic,
} from './signals/replica-signals.js';
export { type SignalWire } from './signals/signal-wire.js';
