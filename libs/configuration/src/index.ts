export { ConfigurationModule } from './configuration.module.js';
export {
  ConfigurationKind,
  type ConfigurationObject,
  type ConfigurationSaver,
  type ConfigurationSession,
  type StoredObject,
  type WantedObject,
} from './configuration-kind.js';
export { ConfigurationKinds } from './configuration-kinds.js';
export { type ObjectOutcome, ObjectPlan } from './object-plan.js';
export { TableKind } from './table-kind.js';
export { createMarkMigration } from './mark-migration.js';
