import { Global, Module } from '@nestjs/common';
import { OutboundHttp } from './outbound-http.js';

/** The only HTTP client for calls to other machines. Needs ServiceModule. */
@Global()
@Module({ providers: [OutboundHttp], exports: [OutboundHttp] })
export class OutboundModule {}
