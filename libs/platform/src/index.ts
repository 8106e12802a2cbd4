export { ApiEvents, ApiEventStream, ApiIdempotent, ApiPages, ApiProblem } from './api/api-documentation.js';
export { jsonBodyParser } from './api/json-body-parser.js';
export { hasMoreMembers, tooManyMembers } from './api/json-members.js';
export { refuseTooDeep } from './api/json-depth.js';
export { malformed, type Problem, problem, type ProblemEntry, ProblemError } from './api/problem.js';
export {
  oneOf,
  type PagePosition,
  type PageQuery,
  pageTokenAfter,
  readCursor,
  readFlag,
  readPageQuery,
  single,
} from './api/query-parameters.js';
export { type BodyType, readBody } from './api/read-body.js';
export {
  AppConfig,
  type CardChangePolicy,
  type CardConfig,
  type CardSignaturePolicy,
  type LlmConfig,
  type LogLevel,
  type NodeDispatch,
} from './config/app-config.js';
export { type AuthConfig, type AuthMode, CALLER_NAME, type JwtConfig, type SeededKey } from './config/auth-config.js';
export { type ContentLimits, DEFAULT_CONTENT_LIMITS } from './config/content-limits.js';
export { ConfigError } from './config/config-error.js';
export { isLoopbackHost } from './config/loopback.js';
export { type Environment, loadConfig } from './config/load-config.js';
export { BatchedRead } from './database/batched-read.js';
export { Database, type DatabaseOptions, type EntityClass, type MigrationClass } from './database/database.js';
export { ScramClient } from './database/scram-client.js';
export {
  isDatabaseAway,
  isOutage,
  isReadOnly,
  isRolledBack,
  onceWritable,
  sqlState,
  throughOutage,
} from './database/outage.js';
export { PLATFORM_MIGRATIONS } from './database/platform-migrations.js';
export { serviceSecret } from './database/service-secret.js';
export { enqueueFrom } from './jobs/enqueue-statement.js';
export { type CronEntry, type Job, type JobContext, type JobHandler, PermanentJobError } from './jobs/job.js';
export { Jobs } from './jobs/jobs.js';
export { migrateJobQueue } from './jobs/job-schema.js';
export { JobsModule } from './jobs/jobs.module.js';
export { HealthModule } from './operations/health.module.js';
export { AnswerRoom, NoRoomForAnswer } from './operations/answer-room.js';
export { InFlight, type InFlightOwner, type InFlightRefusal, SMALL_REQUEST } from './operations/in-flight.js';
export { createLogger, LoggingModule, withQuietRoutes } from './operations/logging.js';
export { Metrics } from './operations/metrics.js';
export { Readiness, type ReadinessCheck } from './operations/readiness.js';
export { SecretBox, UnreadableSecret } from './secrets/secret-box.js';
export {
  Shutdown,
  SHUTDOWN_PHASES,
  type ShutdownContext,
  type ShutdownPhase,
  type ShutdownStep,
} from './operations/shutdown.js';
export { AddressGuard, type AddressPolicy } from './outbound/address-guard.js';
export {
  OutboundConnectError,
  OutboundInterruptedError,
  OutboundRefusedError,
  OutboundTimeoutError,
  type OutboundTimeoutPhase,
  OutboundTooLongError,
} from './outbound/outbound-errors.js';
export { type OutboundInit } from './outbound/call-limits.js';
export type { OutboundAnswer, OutboundCall, OutboundTimes } from './outbound/outbound-call.js';
export {
  type OutboundDoor,
  type OutboundFetch,
  OutboundHttp,
  type OutboundRequester,
} from './outbound/outbound-http.js';
export { PlatformModule, type PlatformOptions } from './platform.module.js';
export { EmbeddedPostgres, type EmbeddedPostgresOptions } from './postgres/embedded-postgres.js';
export { PostgresRefusal } from './postgres/postgres-refusal.js';
export { ReplicaLife } from './replica/replica-life.js';
export { PostgresSignals } from './signals/postgres-signals.js';
export {
  NO_KEY,
  REPLICA_LEFT,
  ReplicaSignals,
  type SignalHandler,
  type SignalSubscription,
  type SignalTopic,
} from './signals/replica-signals.js';
export { type IncomingRequest } from './service/forwarded.js';
export { ServiceAddress } from './service/service-address.js';
export { SIGNATURE_TYPES } from './signing/signature-types.js';
export { JWKS_PATH, type SigningKey, SigningKeys } from './signing/signing-keys.js';
export { sendEvents, type StreamEnd } from './sse/send-events.js';
export { formatSseFrame, type SseFrame } from './sse/sse-frame.js';
export { SseStream, type SseStreamOptions } from './sse/sse-stream.js';
