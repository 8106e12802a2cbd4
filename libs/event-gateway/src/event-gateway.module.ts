import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { EventGateway, GATEWAY_STREAMS, type GatewayStreams } from './event-gateway.js';
import { EventsController, TaskLogController } from './events.controller.js';
import { EventsGateway } from './socket/events.gateway.js';
import { GatewaySocket } from './socket/gateway-socket.js';

/** Provides the event gateway. No other module depends on it. */
@Module({})
export class EventGatewayModule {
  /** @param imports modules that provide CommitFeed and TaskLogPages */
  static forStreams(streams: GatewayStreams, imports: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: EventGatewayModule,
      imports,
      controllers: [EventsController, TaskLogController],
      providers: [EventGateway, GatewaySocket, EventsGateway, { provide: GATEWAY_STREAMS, useValue: streams }],
      exports: [GatewaySocket],
    };
  }
}
