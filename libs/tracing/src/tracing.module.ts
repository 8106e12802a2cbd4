import { Global, Module } from '@nestjs/common';
import { Tracing } from './tracing.js';

/** Traces, and where spans go. Needs ServiceModule and OutboundModule. */
@Global()
@Module({ providers: [Tracing], exports: [Tracing] })
export class TracingModule {}
