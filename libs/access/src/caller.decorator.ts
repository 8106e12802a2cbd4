import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import { ServiceAddress } from '#libs/http';
import type { FastifyRequest } from 'fastify';
import type { Caller as KnownCaller } from './caller.js';
import { callerOf, scopeOf } from './request-caller.js';

/** Who asks for something, and by which address of this service. */
export interface ApiCall {
  scope: { tenant: string; owner: string };
  baseUrl: string;
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
    return { scope: scopeOf(raw), baseUrl: this.address.publicBaseUrl(raw) };
  }
}

function requestOf(context: ExecutionContext): FastifyRequest {
  return context.switchToHttp().getRequest<FastifyRequest>();
}
