import { Global, Module } from '@nestjs/common';
import { OutboundHttp } from './outbound-http.js';

/** The one HTTP client for calls to elsewhere. Needs ServiceModule. */
@Global()
@Module({ providers: [OutboundHttp], exports: [OutboundHttp] })
export class OutboundModule {}
