import { Controller, Get, HttpCode, Module, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scope } from '#libs/access';
import { ApiProblem } from '#libs/http-server';
import { type TaskScope, TasksModule } from '#libs/tasks';
import { DeliveriesQuery, DeliveryPageView, DeliveryView } from './deliveries.dto.js';
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

/** Serves the ledger of push notifications (one entry per attempted notification) at `/api/deliveries`. */
@ApiTags('push')
@Controller('api/deliveries')
class DeliveriesController {
  constructor(private readonly ledger: DeliveryLedger) {}

  @Get()
  @ApiOperation({ summary: 'Lists push deliveries, newest first.' })
  @ApiOkResponse({ type: DeliveryPageView })
  @ApiProblem(400, 'A parameter is malformed.')
  listDeliveries(@Query() query: DeliveriesQuery, @Scope() scope: TaskScope): Promise<DeliveryPageView> {
    return this.ledger.listPage(scope, query);
  }

  @Post(':id/redeliver')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Retries a delivery: a delivered one alone, any other immediately together with those after it.',
  })
  @ApiAcceptedResponse({ type: DeliveryView })
  @ApiProblem(404, 'delivery not found')
  @ApiProblem(409, 'The config of the delivery was deleted.')
  redeliverNotification(@Param('id') id: string, @Scope() scope: TaskScope): Promise<DeliveryView> {
    return this.ledger.sendAgain(scope, id);
  }
}

/** Provides the management API of deliveries. Needs AccessModule. */
@Module({ imports: [PushModule], controllers: [DeliveriesController] })
export class PushApiModule {}
