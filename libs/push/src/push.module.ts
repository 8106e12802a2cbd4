import { Module } from '@nestjs/common';
import { TasksModule } from '#libs/tasks';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveryLedger } from './delivery-ledger.js';
import { DeliveryStore } from './delivery-store.js';
import { NotificationSender, NotificationSigner } from './notification-sender.js';
import { PostgresPushConfigs } from './postgres-push-configs.js';
import { PushConfigs } from './push-configs.js';
import { PushDeliveries } from './push-deliveries.js';
import { PushDispatcher } from './push-dispatcher.js';
import { PushQueues, PushSessions } from './push-queues.js';
import { PushRepeats } from './push-repeats.js';
import { PushJobs, PushRevival } from './push-revival.js';
import { PushSecretBox, SealSecretsJob } from './push-secrets.js';
import { PushWaker } from './push-waker.js';

/** Provides push notifications of Tasks. Needs the modules of the ground layer. */
@Module({
  imports: [TasksModule],
  providers: [
    { provide: PushConfigs, useClass: PostgresPushConfigs },
    PushSessions,
    PushQueues,
    PushRepeats,
    DeliveryStore,
    DeliveryLedger,
    PushSecretBox,
    SealSecretsJob,
    NotificationSigner,
    NotificationSender,
    PushDeliveries,
    PushDispatcher,
    PushWaker,
    PushJobs,
    PushRevival,
  ],
  exports: [PushConfigs, DeliveryLedger],
})
export class PushModule {}

/** Provides the management API of deliveries. Needs AccessModule. */
@Module({ imports: [PushModule], controllers: [DeliveriesController] })
export class PushApiModule {}
