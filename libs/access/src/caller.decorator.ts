import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceAddress } from '#libs/http-server';
import { inboundTrace, type TraceContext } from '#libs/service';
import { type Caller as KnownCaller, callerOf, scopeOf } from './caller.js';

/** Caller of a request, and the base URL of this service that the caller used. */
export interface ApiCall {
  scope: { tenant: string; owner: string };
  baseUrl: string;
  /** Trace context of the request; `null` if it is malformed. */
  trace?: TraceContext | null;
  /** Registers a callback that is called once, when the response is closed; returns false if it is closed already. */
  whenAnswered?: (done: () => void) => boolean;
}

export type Caller = KnownCaller;

/** Injects the caller of the request into a handler. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(requestOf(context).raw));

/** Injects the scope of the request into a handler: tenant and owner of the Tasks that it may see or create. */
export const Scope = createParamDecorator((_: unknown, context: ExecutionContext) => scopeOf(requestOf(context).raw));

/** Injects the scope of the request, and the base URL of this service that it used (`ApiCall`), into a handler. */
export const Call = (): ParameterDecorator => Request(CallPipe);

const Request = createParamDecorator((_: unknown, context: ExecutionContext): HttpExchange => {
  const http = context.switchToHttp();
  return { request: http.getRequest<FastifyRequest>(), reply: http.getResponse<FastifyReply>() };
});

interface HttpExchange {
  request: FastifyRequest;
  reply: FastifyReply;
}

@Injectable()
class CallPipe implements PipeTransform<HttpExchange, ApiCall> {
  constructor(private readonly address: ServiceAddress) {}

  transform({ request: { raw }, reply }: HttpExchange): ApiCall {
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
