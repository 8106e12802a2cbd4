export { BatchLoader, clientGone, forClient, goneSignal, ReadEnded, SharedReads } from './database/shared-reads.js';
export { clientOf, encodingProblem, ScramClient } from './database/connection-options.js';
export { probeDatabase } from './database/database-probe.js';
export { Database, type MigrationClass, takeMigrationLock, tryMigrationLock } from './database/database.js';
export { KeyTurns } from './database/key-turns.js';
export {
  classifyWriteFailure,
  isDatabaseAway,
  mayBeCommitted,
  mayBreakSession,
  retryUntilWritable,
  retryWhileDatabaseDown,
  retryWhileUnreachable,
  sqlState,
  StatementNotSent,
} from './database/outage.js';
export { inTransaction } from './database/transaction.js';
export { EmbeddedPostgres } from './embedded/embedded-postgres.js';
export { stopAbandonedServer } from './embedded/server-guard.js';
export { PostgresRefusal } from './embedded/server-account.js';
export {
  installationTag,
  moveInstallation,
  type RecognitionOptions,
  recognizeInstallation,
} from './installation/installation.js';
export { POSTGRES_MIGRATIONS } from './postgres-migrations.js';
export { PostgresModule } from './postgres.module.js';
export { ReplicaLife } from './replica/replica-life.js';
export { livenessCheckBy } from './replica/replica-liveness.js';
export { SecretBox, serviceSecret, UnreadableSecret } from './secrets/secret-box.js';
export { ChannelSignals } from './signals/channel-signals.js';
export { NatsWire, PostgresWire, type SignalWire } from './signals/signal-wire.js';
export {
  NO_KEY,
  REPLICA_LEFT,
  ReplicaSignals,
  type SignalHandler,
  type SignalSubscription,
  type SignalTopic,
} from './signals/replica-signals.js';
