import { Global, Module } from '@nestjs/common';
import { AppConfig, Database, OutboundHttp } from '#libs/platform';
import { ApiKeys } from './api-keys.js';
import { Authentication } from './authentication.js';
import { OpenCalls } from './open-calls.js';

/** Who callers are, and what they may do. Needs PlatformModule. */
@Global()
@Module({
  providers: [
    ApiKeys,
    OpenCalls,
    { provide: Authentication, inject: [AppConfig, ApiKeys, OutboundHttp, Database], useFactory: Authentication.begin },
  ],
  exports: [ApiKeys, Authentication, OpenCalls],
})
export class AccessModule {}
