import { type DynamicModule, Module } from '@nestjs/common';
import { TasksModule } from '#libs/tasks';
import { EventGateway, GATEWAY_STREAMS, type GatewayStreams } from './event-gateway.js';
import { EventsController, TaskLogController } from './events.controller.js';
import { PromptsController } from './prompts.controller.js';
import { EventsGateway } from './socket/events.gateway.js';
import { GatewaySocket } from './socket/gateway-socket.js';

/**
 * Provides the event gateway. No other module depends on it. Needs the global modules of the service, which log,
 * configure and connect to the database, and AccessModule.
 */
@Module({
  imports: [TasksModule],
  controllers: [EventsController, TaskLogController, PromptsController],
  providers: [EventGateway, GatewaySocket, EventsGateway],
  exports: [GatewaySocket],
})
export class EventGatewayModule {
  static forStreams(streams: GatewayStreams): DynamicModule {
    return { module: EventGatewayModule, providers: [{ provide: GATEWAY_STREAMS, useValue: streams }] };
  }
}
