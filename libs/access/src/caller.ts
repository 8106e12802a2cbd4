import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { ServiceAddress } from '#libs/http-server';
import { inboundTrace, type TraceContext } from '#libs/service';

/**
 * Permissions of a caller: to call agents and read their results, to change workflows, to read what models were sent
 * for the caller's own Tasks, and to manage keys.
 */
export const PERMISSIONS = ['agents', 'workflows', 'prompts', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Key, token or session on which an open stream depends: the stream ends once it is revoked or has expired. */
export interface Proof {
  /** Digest of the API key that the caller used, or signed in with; absent if the caller used a token. */
  readonly key?: string;
  /** Digest of the token of the console's session; absent without a session. */
  readonly session?: string;
  /** Expiry of the token or session, in milliseconds since 1970; absent if the access has no expiry. */
  readonly endsAt?: number;
}

/** Sender of a request. What the caller creates belongs to `owner`, within `tenant`. */
export interface Caller {
  readonly tenant: string;
  readonly owner: string;
  readonly permissions: ReadonlySet<Permission>;
  /** Key, token or session that may be revoked or expire; absent for access without such a credential. */
  readonly proof?: Proof;
}

/** Caller of every request without authentication. */
export const ANONYMOUS: Caller = { tenant: '', owner: '', permissions: new Set(PERMISSIONS) };

export function isPermission(name: unknown): name is Permission {
  return PERMISSIONS.includes(name as Permission);
}

/**
 * Key of the caller on the request object. The caller is thus released with the request, without the entry per
 * request that a WeakMap would add and collect.
 */
const CALLER = Symbol('caller');

interface Identified extends IncomingMessage {
  [CALLER]?: Caller;
}

/** Returns the caller of a request; `ANONYMOUS` without authentication. */
export function callerOf(request: IncomingMessage): Caller {
  return (request as Identified)[CALLER] ?? ANONYMOUS;
}

/** True if the sender of a request has authenticated; always false without authentication. */
export function isAuthenticated(request: IncomingMessage): boolean {
  return (request as Identified)[CALLER] !== undefined;
}

/** Returns the scope of a request: the tenant and owner of the Tasks that the request may see or create. */
export function scopeOf(request: IncomingMessage): { tenant: string; owner: string } {
  const { tenant, owner } = callerOf(request);
  return { tenant, owner };
}

/** Sets the caller of a request for all its handlers. */
export function setCaller(request: IncomingMessage, caller: Caller): void {
  (request as Identified)[CALLER] = caller;
}

/** Caller of a request, and the base URL of this service that the caller used. */
export interface ApiCall {
  scope: { tenant: string; owner: string };
  baseUrl: string;
  /** Trace context of the request; `null` if it is malformed. */
  trace?: TraceContext | null;
  /** Registers a callback that is called once, when the response is closed; returns false if it is closed already. */
  whenAnswered?: (done: () => void) => boolean;
}

/** Injects the caller of the request into a handler. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) => callerOf(requestOf(context).raw));

/** Injects the scope of the request into a handler: tenant and owner of the Tasks that it may see or create. */
export const Scope = createParamDecorator((_: unknown, context: ExecutionContext) => scopeOf(requestOf(context).raw));

/**
 * Injects the scope of the request, and the base URL by which the caller reached this service (`ApiCall`), into a
 * handler.
 */
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
