import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import { ServiceAddress } from '#libs/http';
import { inboundTrace, type TraceContext } from '#libs/service';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller as KnownCaller } from './caller.js';
import { callerOf, scopeOf } from './request-caller.js';

/** Who asks for something, and by which address of this service. */
export interface ApiCall {
  scope: { tenant: string; owner: string };
  baseUrl: string;
  /** Where the request stands in a trace; `null` where that cannot be read. */
  trace?: TraceContext | null;
  /** Calls back, once, when the answer or its caller has gone; returns false where the caller has left already. */
  whenAnswered?: (done: () => void) => boolean;
}

export type Caller = KnownCaller;

/** A handler's parameter: who sent the request. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(requestOf(context).raw));

/** A handler's parameter: whose Tasks the request may see, and to whom those that it makes belong. */
export const Scope = createParamDecorator((_: unknown, context: ExecutionContext) => scopeOf(requestOf(context).raw));

/** A handler's parameter: whose request it is, and by which address of this service it came (`ApiCall`). */
export const Call = (): ParameterDecorator => Request(CallPipe);

const Request = createParamDecorator((_: unknown, context: ExecutionContext): Exchange => {
  const http = context.switchToHttp();
  return { request: http.getRequest<FastifyRequest>(), reply: http.getResponse<FastifyReply>() };
});

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

@Injectable()
class CallPipe implements PipeTransform<Exchange, ApiCall> {
  constructor(private readonly address: ServiceAddress) {}

  transform({ request: { raw }, reply }: Exchange): ApiCall {
    const trace = inboundTrace(raw.headers);
    return {
      scope: scopeOf(raw),
      baseUrl: this.address.publicBaseUrl(raw),
      whenAnswered: (done) => !reply.raw.closed && reply.raw.once('close', done) === reply.raw,
      ...(trace !== undefined && { trace }),
    };
  }
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
