import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { permissionDenied } from './access-errors.js';
import type { Authentication } from './authentication.js';
import type { Caller } from './caller.js';
import { presentedCredentials } from './credentials.js';
import type { OpenCalls } from './open-calls.js';
import { identify } from './request-caller.js';
import { type RouteAccess, routeAccess } from './route-access.js';

export interface Guards {
  authentication: Authentication;
  openCalls: OpenCalls;
}

/**
 * Lets no request through whose caller is not known or may not do what it asks; to be called before routes are
 * registered. Refusals are A2AErrors that each surface tells in its own shape. A public document is told to everyone,
 * whatever credentials come with it.
 */
export function guardRoutes(fastify: FastifyInstance, guards: Guards): void {
  if (!guards.authentication.required) return;
  const accesses = new Map<string, RouteAccess>();
  fastify.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions;
    const name = `${request.method} ${url}`;
    let access = accesses.get(name);
    if (!access) {
      access = routeAccess(request.method, url);
      // Routes are few, and so are the methods that have one.
      if (url !== undefined) accesses.set(name, access);
    }
    new Admission(guards, access, request, reply, done).begin();
  });
}

/** One request at the door. */
class Admission {
  constructor(
    private readonly guards: Guards,
    private readonly access: RouteAccess,
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly done: (error?: Error) => void,
  ) {}

  /** Waits only where the credentials are not known yet. */
  begin(): void {
    const credentials = presentedCredentials(this.request.headers);
    if (this.access === 'public' && !credentials) return this.done();
    try {
      const caller = this.guards.authentication.caller(credentials);
      if (!(caller instanceof Promise)) return this.enter(caller);
      caller.then(
        (known) => this.enter(known),
        (error: unknown) => this.refuse(error as Error),
      );
    } catch (error) {
      this.refuse(error as Error);
    }
  }

  private enter(caller: Caller): void {
    const { access, request } = this;
    identify(request.raw, caller);
    if (access === 'public' || access.some((it) => caller.permissions.has(it))) {
      if (caller.proof) this.watch(caller);
      return this.done();
    }
    this.challenge(`, error="insufficient_scope", scope="${access.join(' ')}"`);
    this.done(permissionDenied(access));
  }

  /** An answer that has begun and is not over yet is a stream. */
  private watch(caller: Caller): void {
    const { raw } = this.reply;
    const end = (): boolean => raw.headersSent && raw.destroy() === raw;
    raw.once('close', this.guards.openCalls.watch(caller, end));
  }

  private refuse(error: Error): void {
    if (this.access === 'public') return this.done();
    this.challenge(presentedCredentials(this.request.headers) ? ', error="invalid_token"' : '');
    this.done(error);
  }

  /** RFC 6750, section 3. */
  private challenge(details: string): void {
    void this.reply.header('www-authenticate', `Bearer realm="parley"${details}`);
  }
}
