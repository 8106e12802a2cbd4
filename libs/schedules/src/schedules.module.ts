import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConfigurationModule } from '#libs/configuration';
import { Processes, RunStartCheck } from '#libs/durable';
import { ExecutorModule } from '#libs/executor';
import { TasksModule } from '#libs/tasks';
import { ScheduleKind } from './api/schedule-kind.js';
import { SchedulesController } from './api/schedules.controller.js';
import { RunStarts } from './firing/run-starts.js';
import { ScheduleClock } from './firing/schedule-clock.js';
import { ScheduleFirings } from './storage/schedule-firings.js';
import { ScheduleRow } from './storage/schedule-tables.js';
import { Schedules } from './storage/schedules.js';

/**
 * Runs workflows at given times, and provides the API that manages these schedules. Needs the modules of the ground
 * layer and a global AgentCatalog.
 */
@Module({
  imports: [TypeOrmModule.forFeature([ScheduleRow]), ExecutorModule, TasksModule, ConfigurationModule],
  controllers: [SchedulesController],
  providers: [Processes, ScheduleClock, RunStarts, Schedules, ScheduleFirings, RunStartCheck, ScheduleKind],
})
export class SchedulesModule {}
