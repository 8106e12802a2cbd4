import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { permissionDenied } from './access-errors.js';
import type { Authentication } from './authentication.js';
import type { Caller } from './caller.js';
import { type CallerLimits, limitName, retryAfter } from './caller-limits.js';
import { presentedCredentials } from './credentials.js';
import type { OpenCalls } from './open-calls.js';
import { identify } from './request-caller.js';
import { isStream, type RouteAccess, routeAccess } from './route-access.js';
import { permitStreams } from './stream-permit.js';

export interface Guards {
  authentication: Authentication;
  openCalls: OpenCalls;
  limits: CallerLimits;
}

/**
 * The auth guard of every route. It is a hook of the server and no guard of Nest's: it stands before the routes of A2A
 * too, which are no controllers (ADR 4), and before any body is read. Handlers learn of the caller by `@Caller()`,
 * `@Scope()` and `@Call()`.
 *
 * Lets no request through whose caller is not known or may not do what it asks; to be called before routes are
 * registered. Refusals are A2AErrors that each surface tells in its own shape. A public document is told to everyone,
 * whatever credentials come with it, and however often.
 */
export function guardRoutes(fastify: FastifyInstance, guards: Guards): void {
  if (!guards.authentication.required && !guards.limits.limits) return;
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

/** One request at the auth guard. */
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
      // Replicas call each other as often as a run needs it.
      const counts = this.access !== 'public' && credentials?.kind !== 'node';
      if (!(caller instanceof Promise)) return this.enter(caller, counts);
      caller.then(
        (known) => this.enter(known, counts),
        (error: unknown) => this.refuse(error as Error),
      );
    } catch (error) {
      this.refuse(error as Error);
    }
  }

  private enter(caller: Caller, counts: boolean): void {
    const { access, request } = this;
    identify(request.raw, caller);
    if (access === 'public' || access.some((it) => caller.permissions.has(it))) return this.admit(caller, counts);
    this.challenge(`, error="insufficient_scope", scope="${access.join(' ')}"`);
    this.done(permissionDenied(access));
  }

  /** Within the caller's limits, and as long as the credentials hold, until it is answered. */
  private admit(caller: Caller, counts: boolean): void {
    // Nobody would be told any more that the request is over.
    if (this.request.raw.socket.destroyed) return this.done();
    const closed: (() => void)[] = [];
    // One listener for all: it is there for every request.
    if (caller.proof || counts) this.reply.raw.once('close', () => closed.forEach((end) => end()));
    if (caller.proof) closed.push(this.watch(caller));
    try {
      if (counts) this.count(caller, closed);
    } catch (error) {
      void this.reply.header('retry-after', retryAfter(error));
      return this.done(error as Error);
    }
    this.done();
  }

  /** @throws A2AError RATE_LIMITED */
  private count(caller: Caller, closed: (() => void)[]): void {
    const { limits } = this.guards;
    const { raw, routeOptions } = this.request;
    const who = limitName(caller, raw.socket.remoteAddress);
    closed.push(limits.enter(who));
    if (isStream(routeOptions.url)) closed.push(limits.stream(who));
    else permitStreams(raw, () => limits.stream(who));
  }

  /** An answer that has begun and is not over yet is a stream. @returns what to call when it is over */
  private watch(caller: Caller): () => void {
    const { raw } = this.reply;
    return this.guards.openCalls.watch(caller, () => raw.headersSent && raw.destroy() === raw);
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
