import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConfigurationModule } from '#libs/configuration';
import { CredentialsModule } from '#libs/credentials';
import { Processes, RunStartCheck } from '#libs/durable';
import { ExecutorModule } from '#libs/executor';
import { TasksModule } from '#libs/tasks';
import { HooksController } from './api/hooks.controller.js';
import { TriggerKind } from './api/trigger-kind.js';
import { TriggersController } from './api/triggers.controller.js';
import { ArrivingBodies } from './delivery/arriving-bodies.js';
import { DeliveryIntake } from './delivery/delivery-intake.js';
import { DeliveryStarts } from './delivery/delivery-starts.js';
import { DeliveryUpkeep } from './delivery/delivery-upkeep.js';
import { RunEnds } from './delivery/run-ends.js';
import { WebhookSecrets } from './signatures/webhook-secrets.js';
import { TriggerDeliveries } from './storage/trigger-deliveries.js';
import { TriggerRow } from './storage/trigger-tables.js';
import { Triggers } from './storage/triggers.js';

/** Provides the triggers of tenants alone, for modules that look up what they name. */
@Module({
  imports: [TypeOrmModule.forFeature([TriggerRow])],
  providers: [Triggers],
  exports: [Triggers],
})
export class TriggerStoreModule {}

/**
 * Runs workflows upon events, and provides the API that manages these triggers. Needs the modules of the ground layer
 * and a global AgentCatalog.
 */
@Module({
  imports: [TriggerStoreModule, ExecutorModule, TasksModule, ConfigurationModule, CredentialsModule],
  controllers: [TriggersController, HooksController],
  providers: [
    Processes,
    RunStartCheck,
    TriggerDeliveries,
    WebhookSecrets,
    ArrivingBodies,
    DeliveryIntake,
    DeliveryStarts,
    DeliveryUpkeep,
    RunEnds,
    TriggerKind,
  ],
})
export class TriggersModule {}
