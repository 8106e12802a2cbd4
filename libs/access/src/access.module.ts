import { Global, Module } from '@nestjs/common';
import { AppConfig, OutboundHttp } from '#libs/platform';
import { ApiKeys } from './api-keys.js';
import { Authentication } from './authentication.js';
import { KeysController } from './keys.controller.js';
import { TicketsController } from './tickets.controller.js';

/** Who callers are, and what they may do. Needs PlatformModule. */
@Global()
@Module({
  controllers: [KeysController, TicketsController],
  providers: [
    ApiKeys,
    { provide: Authentication, inject: [AppConfig, ApiKeys, OutboundHttp], useFactory: Authentication.begin },
  ],
  exports: [Authentication],
})
export class AccessModule {}
