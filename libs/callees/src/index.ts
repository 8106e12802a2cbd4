export { CalleesModule } from './callees.module.js';
export { CALLEE_MIGRATIONS } from './storage/callee-migrations.js';
