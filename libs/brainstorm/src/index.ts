export { BrainstormApiModule } from './api/brainstorm-api.module.js';
export { BrainstormModule } from './api/brainstorm.module.js';
export { BrainstormNode } from './brainstorm-node.js';
export {
  type CanonicalState,
  InvalidState,
  readState,
  type StateContent,
  stateFaults,
} from './core/canonical-state.js';
export { llmFaults } from './core/llm-config.js';
export { isRole, type BrainstormRole, ROLES } from './core/role.js';
export { workByRules } from './core/role-rules.js';
export { STATE_SCHEMA } from './core/state-schema.js';
export { BRAINSTORM_MIGRATIONS } from './storage/brainstorm-migrations.js';
