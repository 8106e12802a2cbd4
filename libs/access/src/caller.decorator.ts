import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import { ServiceAddress } from '#libs/http';
import { inboundTrace, type TraceContext } from '#libs/service';
import type { FastifyRequest } from 'fastify';
import type { Caller as KnownCaller } from './caller.js';
import { callerOf, scopeOf } from './request-caller.js';

/** Who asks for something, and by which address of this service. */
export interface ApiCall {
  scope: { tenant: string; owner: string };
  baseUrl: string;
  /** Where the request stands in a trace; `null` where that cannot be read. */
  trace?: TraceContext | null;
}

export type Caller = KnownCaller;

/** A handler's parameter: who sent the request. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(requestOf(context).raw));

/** A handler's parameter: whose Tasks the request may see, and to whom those that it makes belong. */
export const Scope = createParamDecorator((_: unknown, context: ExecutionContext) => scopeOf(requestOf(context).raw));

/** A handler's parameter: whose request it is, and by which address of this service it came (`ApiCall`). */
export const Call = (): ParameterDecorator => Request(CallPipe);

const Request = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context));

@Injectable()
class CallPipe implements PipeTransform<FastifyRequest, ApiCall> {
  constructor(private readonly address: ServiceAddress) {}

  transform({ raw }: FastifyRequest): ApiCall {
    const trace = inboundTrace(raw.headers);
    return { scope: scopeOf(raw), baseUrl: this.address.publicBaseUrl(raw), ...(trace !== undefined && { trace }) };
  }
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
