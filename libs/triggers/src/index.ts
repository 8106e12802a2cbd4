export { findTriggerProblems } from './api/trigger-kind.js';
export { TRIGGER_MIGRATIONS } from './storage/trigger-tables.js';
export { Triggers } from './storage/triggers.js';
export { TriggersModule, TriggerStoreModule } from './triggers.module.js';
