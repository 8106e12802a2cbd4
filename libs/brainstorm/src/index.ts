export { type CanonicalState, InvalidState, readState, type StateContent } from './core/canonical-state.js';
export { isRole, type Role, ROLES } from './core/role.js';
export { workByRules } from './core/role-rules.js';
