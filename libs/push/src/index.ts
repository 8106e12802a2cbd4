export { type CheckedPushConfig, PushConfigs, type PushRegistration, type ShownPushConfig } from './push-configs.js';
export { PUSH_MIGRATIONS, PUSHES_UNDER_WAY } from './push-migrations.js';
export { PushApiModule, PushModule } from './push.module.js';
export { PushWaker } from './push-waker.js';
export { PushQueues, PushSessions } from './push-queues.js';
