export { type AgentBinding, AppConfig, type CardConfig, type LogLevel } from './config/app-config.js';
export {
  type AuthMode,
  CALLER_NAME,
  isLoopbackHost,
  type JwtConfig,
  type OidcConfig,
  type SeededKey,
} from './config/auth-config.js';
export { ConfigError, type Environment, loadConfig } from './config/load-config.js';
export { type ContentLimits, DEFAULT_CONTENT_LIMITS } from './config/content-limits.js';
export type { S3Config } from './config/files-config.js';
export { requiredAuth } from './config/addresses-config.js';
export {
  MCP_GLOB,
  MCP_SERVER_NAME,
  type McpCommand,
  type McpEndpoint,
  type McpServerEntry,
} from './config/mcp-config.js';
export { Readiness } from './readiness.js';
export {
  addCount,
  type CallerIdentity,
  callerKey,
  CallerTurns,
  NoTurnInTime,
  type TurnLimits,
} from './load/caller-turns.js';
export { COSTLY_BODY, LoopShares } from './load/loop-shares.js';
export { FREE, type WorkTurn, WorkTurns } from './load/work-turns.js';
export { logConsole, withQuietRoutes } from './logging.js';
export type { Fact, FactPayloads } from '#libs/agent-sdk';
export { Facts, OnFact } from './facts.js';
export {
  CONTENT_WAIT_MS,
  type ContentPlace,
  ContentRoom,
  ContentRooms,
  TooManyContents,
} from './memory/content-rooms.js';
export { type AnswerListener, type AnswerPlace, ReceivedAnswers, TooManyAnswers } from './memory/received-answers.js';
export { InFlight, type InFlightOwner, type InFlightRefusal, SMALL_REQUEST } from './memory/in-flight.js';
export { type ShortLivedItem, ShortLivedMap, ShortLivedSet } from './v8/short-lived-map.js';
export { BoundedLabel, Metrics } from './metrics.js';
export { ServiceModule } from './service.module.js';
export type { OtlpProtocol, SamplerName, TracingConfig } from './config/tracing-config.js';
export {
  inboundTrace,
  ownTraceId,
  readTraceContext,
  taskTraceId,
  type TraceContext,
  type TraceHeaders,
  traceHeaders,
  TraceIds,
} from './trace-context.js';
export { Backoff, unlessAborted, whenAborted, withinTime } from './waits.js';
export { endWithParent } from './parent-watch.js';
export { Shutdown } from './shutdown.js';
export { BinaryArray } from './v8/binary-array.js';
