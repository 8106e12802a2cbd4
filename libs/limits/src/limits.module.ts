import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConfigurationModule } from '#libs/configuration';
import { LimitKind } from './api/limit-kind.js';
import { LimitsController } from './api/limits.controller.js';
import { KnownLimits } from './storage/known-limits.js';
import { FlowLimitRow } from './storage/limit-table.js';
import { Limits } from './storage/limits.js';

/** Provides the limits that apply to work. Needs the modules of the ground layer. */
@Module({ providers: [KnownLimits], exports: [KnownLimits] })
export class KnownLimitsModule {}

/** Provides the API that manages limits. Needs the modules of the ground layer. */
@Module({
  imports: [TypeOrmModule.forFeature([FlowLimitRow]), KnownLimitsModule, ConfigurationModule],
  controllers: [LimitsController],
  providers: [Limits, LimitKind],
})
export class LimitsModule {}
