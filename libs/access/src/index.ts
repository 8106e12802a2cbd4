export { permissionDenied } from './access-errors.js';
export { guardRoutes } from './auth-guard.js';
export { AccessApiModule } from './access-api.module.js';
export { findKeyProblems } from './key-kind.js';
export { ACCESS_MIGRATIONS } from './access-migrations.js';
export { AccessModule } from './access.module.js';
export { auditCalls, setAuditDetail } from './audit-log.js';
export { admitBodies, ArrivingBody, inFlightError } from './body-admission.js';
export { sendTrial, TrialSlots } from './trial-slots.js';
export { RefusedBodies } from './refused-bodies.js';
export { BrowserGuard, guardBrowsers, ServedHosts } from './browser-guard.js';
export {
  admitStream,
  CallerLimits,
  CallerSlots,
  limitName,
  LoopTurns,
  RateMeter,
  retryAfter,
  setRetryAfter,
} from './caller-limits.js';
export { Authentication } from './authentication.js';
export { ConsoleSessions, oidcMethod } from './console-sessions.js';
export { namesInClaims } from './jwt-verifier.js';
export { EVENTS_PROTOCOL, presentedCredentials, upgradeCredentials } from './credentials.js';
export { SessionCookies } from './session-cookies.js';
export { OpenCalls } from './open-calls.js';
export { routeAccess } from './route-access.js';
export {
  type ApiCall,
  Call,
  Caller,
  callerOf,
  isAuthenticated,
  isPermission,
  type Permission,
  PERMISSIONS,
  Scope,
  scopeOf,
  setCaller,
} from './caller.js';
