import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ServiceAddress } from '#libs/http';
import { OutboundHttp } from '#libs/outbound';
import { Database } from '#libs/postgres';
import { AppConfig, Metrics } from '#libs/service';
import { ApiKeyRow } from './api-key-row.js';
import { ApiKeys } from './api-keys.js';
import { BrowserGuard } from './browsers/browser-guard.js';
import { CallerLimits } from './caller-limits.js';
import { Authentication } from './authentication.js';
import { OpenCalls } from './open-calls.js';
import { RevokedKeys } from './revoked-keys.js';

/** Identifies callers and their permissions. Needs the modules of the ground layer. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyRow])],
  providers: [
    ApiKeys,
    OpenCalls,
    RevokedKeys,
    {
      provide: CallerLimits,
      inject: [AppConfig, Metrics],
      useFactory: (config: AppConfig, metrics: Metrics) => new CallerLimits(config, metrics),
    },
    {
      provide: BrowserGuard,
      inject: [AppConfig, ServiceAddress],
      useFactory: (config: AppConfig, address: ServiceAddress) => new BrowserGuard(config, address),
    },
    {
      provide: Authentication,
      inject: [AppConfig, ApiKeys, OutboundHttp, Database],
      useFactory: Authentication.openAuthentication,
    },
  ],
  exports: [ApiKeys, Authentication, BrowserGuard, CallerLimits, OpenCalls],
})
export class AccessModule {}
