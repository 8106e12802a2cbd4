export { BrainstormModule } from './api/brainstorm.module.js';
export { BRAINSTORM_PATH, BrainstormAgent } from './brainstorm-agent.js';
export { type BrainstormEvent, toBrainstormEvent } from './brainstorm-event.js';
export { BrainstormNode } from './brainstorm-node.js';
export { BRAINSTORM_EVENT_TYPES, type BrainstormEventType } from './brainstorm-steps.js';
export { type CanonicalState, InvalidState, readState, type StateContent } from './core/canonical-state.js';
export { isRole, type Role, ROLES } from './core/role.js';
export { workByRules } from './core/role-rules.js';
export { BRAINSTORM_MIGRATIONS } from './storage/brainstorm-migrations.js';
