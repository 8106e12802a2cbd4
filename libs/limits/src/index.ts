export { findLimitProblems } from './api/limit-kind.js';
export type { AppliedLimit, LimitedWork } from './limit.js';
export { LimitGates, type LimitRequest, type SlotOutcome, type SlotSeeker } from './limit-gates.js';
export { KnownLimitsModule, LimitsModule } from './limits.module.js';
export { KnownLimits } from './storage/known-limits.js';
export { LIMIT_MIGRATIONS } from './storage/limit-table.js';
