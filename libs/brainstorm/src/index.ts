export { BrainstormApiModule, BrainstormModule } from './api/brainstorm.module.js';
export { BrainstormNode } from './brainstorm-node.js';
export {
  type CanonicalState,
  InvalidState,
  readState,
  STATE_SCHEMA,
  type StateContent,
  stateFaults,
} from './core/canonical-state.js';
export { llmFaults } from './core/llm-config.js';
export { type BrainstormRole, isRole, ROLES } from './core/role.js';
export { workByRules } from './core/role-rules.js';
export { BRAINSTORM_MIGRATIONS } from './approvals.js';
