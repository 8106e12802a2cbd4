import { type DynamicModule, Module } from '@nestjs/common';
import { EventEmitterModule } from '@nestjs/event-emitter';
import { TerminusModule } from '@nestjs/terminus';
import { AppConfig } from './config/app-config.js';
import { Facts } from './facts.js';
import { LoopShares } from './load/loop-shares.js';
import { WorkTurns } from './load/work-turns.js';
import { LoggingModule } from './logging.js';
import { ContentRooms } from './memory/content-rooms.js';
import { InFlight } from './memory/in-flight.js';
import { ReceivedAnswers } from './memory/received-answers.js';
import { Metrics, MetricsController } from './metrics.js';
import { HealthController, Readiness } from './readiness.js';
import { Shutdown } from './shutdown.js';
import { TraceIds } from './trace-context.js';
import { MemoryRelease } from './v8/memory-release.js';

/**
 * Provides configuration, logging, health, metrics, facts, memory accounting, shares of the event loop, and shutdown.
 * Global: one import serves all modules.
 */
@Module({})
export class ServiceModule {
  static forRoot(config: AppConfig): DynamicModule {
    const shares = {
      provide: LoopShares,
      inject: [Metrics],
      useFactory: (metrics: Metrics) => new LoopShares(metrics),
    };
    const received = {
      provide: ReceivedAnswers,
      inject: [InFlight, WorkTurns],
      useFactory: (inFlight: InFlight, turns: WorkTurns) =>
        new ReceivedAnswers({
          isFull: (whose) => inFlight.isFull(InFlight.accountOf(whose)),
          turnOf: (whose) => turns.createTurn(whose.owner === '' ? undefined : InFlight.accountOf(whose)),
        }),
    };
    const memory = [InFlight, received, ContentRooms];
    const providers = [Facts, ...memory, shares, WorkTurns, Metrics, Readiness, Shutdown, TraceIds];
    return {
      module: ServiceModule,
      global: true,
      imports: [LoggingModule, TerminusModule.forRoot({ logger: false }), EventEmitterModule.forRoot()],
      controllers: [HealthController, MetricsController],
      providers: [...providers, MemoryRelease, { provide: AppConfig, useValue: config }],
      exports: [...providers, AppConfig],
    };
  }
}
