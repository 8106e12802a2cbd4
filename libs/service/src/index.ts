export { AppConfig, type CardConfig, type LogLevel } from './config/app-config.js';
export { type AuthMode, CALLER_NAME, type JwtConfig, type SeededKey } from './config/auth-config.js';
export { ConfigError } from './config/config-error.js';
export { type ContentLimits, DEFAULT_CONTENT_LIMITS } from './config/content-limits.js';
export type { S3Config } from './config/files-config.js';
export { requiredAuth } from './config/database-config.js';
export { type Environment, loadConfig } from './config/load-config.js';
export { isLoopbackHost } from './config/loopback.js';
export {
  MCP_GLOB,
  MCP_SERVER_NAME,
  type McpCommand,
  type McpEndpoint,
  type McpServerEntry,
} from './config/mcp-config.js';
export { Readiness } from './health/readiness.js';
export { type CallerIdentity, CallerTurns, NoTurnInTime, type TurnLimits } from './load/caller-turns.js';
export { COSTLY_BODY, LoopShares } from './load/loop-shares.js';
export { FREE, type WorkTurn, WorkTurns } from './load/work-turns.js';
export { logConsole } from './logging/console-lines.js';
export type { Fact, FactPayloads } from '#libs/authoring';
export { Facts, OnFact } from './facts/facts.js';
export { withQuietRoutes } from './logging/logging.js';
export {
  CONTENT_WAIT_MS,
  type ContentPlace,
  ContentRoom,
  ContentRooms,
  TooManyContents,
} from './memory/content-rooms.js';
export { type AnswerListener, type AnswerPlace, ReceivedAnswers, TooManyAnswers } from './memory/received-answers.js';
export { InFlight, type InFlightOwner, type InFlightRefusal, SMALL_REQUEST } from './memory/in-flight.js';
export { type ShortLivedItem, ShortLivedMap, ShortLivedSet } from './memory/passing-map.js';
export { BoundedLabel } from './metrics/bounded-label.js';
export { Metrics } from './metrics/metrics.js';
export { ServiceModule } from './service.module.js';
export { type OtlpProtocol, type SamplerName, type TracingConfig } from './config/tracing-config.js';
export {
  inboundTrace,
  ownTraceId,
  readTraceContext,
  taskTraceId,
  type TraceContext,
  type TraceHeaders,
  traceHeaders,
} from './tracing/trace-context.js';
export { TraceIds } from './tracing/trace-ids.js';
export { endWithParent } from './shutdown/parent-watch.js';
export { Shutdown } from './shutdown/shutdown.js';
