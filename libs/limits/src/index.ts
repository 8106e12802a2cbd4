export { findLimitProblems } from './api/limit-kind.js';
export type { AppliedLimit } from './limit.js';
export { KnownLimitsModule, LimitsModule } from './limits.module.js';
export { KnownLimits } from './storage/known-limits.js';
export { LIMIT_MIGRATIONS } from './storage/limit-table.js';
