import { Global, Module } from '@nestjs/common';
import { Tracing } from './tracing.js';

/** Provides traces and their export. Needs ServiceModule and OutboundModule. */
@Global()
@Module({ providers: [Tracing], exports: [Tracing] })
export class TracingModule {}
