import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboundHttp } from '#libs/http-client';
import { ServiceAddress } from '#libs/http-server';
import { Database } from '#libs/postgres';
import { AppConfig, Metrics } from '#libs/service';
import { ApiKeyRow, ApiKeys } from './api-keys.js';
import { RevokedKeys } from './audit-log.js';
import { Authentication } from './authentication.js';
import { BrowserGuard } from './browser-guard.js';
import { CallerLimits } from './caller-limits.js';
import { ConsoleSessions } from './console-sessions.js';
import { OpenCalls } from './open-calls.js';

/**
 * Identifies callers and their permissions. Needs the global modules of the service, such as those of its
 * configuration, database and HTTP client.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyRow])],
  providers: [
    ApiKeys,
    OpenCalls,
    RevokedKeys,
    {
      provide: ConsoleSessions,
      inject: [Database, AppConfig],
      useFactory: (database: Database, config: AppConfig) => new ConsoleSessions(database, config),
    },
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
      inject: [AppConfig, ApiKeys, OutboundHttp, Database, ConsoleSessions],
      useFactory: Authentication.openAuthentication,
    },
  ],
  exports: [ApiKeys, Authentication, BrowserGuard, CallerLimits, ConsoleSessions, OpenCalls],
})
export class AccessModule {}
