import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { permissionDenied } from './access-errors.js';
import type { Authentication } from './authentication.js';
import type { Caller } from './caller.js';
import { type CallerLimits, limitName, retryAfter } from './caller-limits.js';
import { presentedCredentials } from './credentials.js';
import type { LoopTurns } from './loop-turns.js';
import type { OpenCalls } from './open-calls.js';
import type { RefusedBodies } from './refused-bodies.js';
import { identify } from './request-caller.js';
import { isStream, type RouteAccess, routeAccess } from './route-access.js';
import { permitStreams, type StreamPermit } from './stream-permit.js';

export interface Guards {
  authentication: Authentication;
  openCalls: OpenCalls;
  limits: CallerLimits;
  refused: RefusedBodies;
  turns: LoopTurns;
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
  const isLimited = guards.limits.limits;
  if (!guards.authentication.required && !isLimited) return;
  const routes = new Map<string, GuardedRoute>();
  fastify.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions;
    const name = `${request.method} ${url}`;
    let route = routes.get(name);
    if (!route) {
      const access = routeAccess(request.method, url);
      route = { access, isStream: isStream(url), isLimited: isLimited && access !== 'public' };
      // Routes are few, and so are the methods that have one.
      if (url !== undefined) routes.set(name, route);
    }
    new Admission(guards, route, request, reply, done).begin();
  });
}

interface GuardedRoute {
  access: RouteAccess;
  /** Whether it answers with a stream and with nothing else. */
  isStream: boolean;
  /** Whether those who call it have any limit. */
  isLimited: boolean;
}

/** One request at the auth guard. */
class Admission implements StreamPermit {
  private caller: Caller | undefined;
  /** Under which name its use is counted, where it is. */
  private countedAs: string | undefined;

  constructor(
    private readonly guards: Guards,
    private readonly route: GuardedRoute,
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly done: (error?: Error) => void,
  ) {}

  /** Waits only where the credentials are not known yet. */
  begin(): void {
    const credentials = presentedCredentials(this.request.headers);
    const { access, isLimited } = this.route;
    if (access === 'public' && !credentials) return this.done();
    try {
      const { authentication } = this.guards;
      const caller = authentication.caller(credentials);
      // Replicas call each other as often as a run needs it; where nobody is asked, anybody could say to be one.
      const counts = isLimited && !(authentication.required && credentials?.kind === 'node');
      if (!(caller instanceof Promise)) return this.enter(caller, counts);
      caller.then(
        (known) => this.enter(known, counts),
        (error: unknown) => this.refuse(error as Error),
      );
    } catch (error) {
      this.refuse(error as Error);
    }
  }

  /**
   * Within the caller's limits, and as long as the credentials hold, until it is over.
   * @throws A2AError RATE_LIMITED
   */
  openStream(): void {
    const { caller, countedAs, reply } = this;
    // Nobody would be told any more that it is over.
    if (this.request.raw.socket.destroyed) return;
    if (countedAs !== undefined) reply.raw.once('close', this.guards.limits.stream(countedAs));
    if (caller?.proof) reply.raw.once('close', this.guards.openCalls.watch(caller, endOf(reply.raw)));
  }

  private enter(caller: Caller, counts: boolean): void {
    const { request } = this;
    const { access } = this.route;
    identify(request.raw, caller);
    if (access === 'public' || access.some((it) => caller.permissions.has(it))) return this.admit(caller, counts);
    this.challenge(`, error="insufficient_scope", scope="${access.join(' ')}"`);
    this.done(permissionDenied(access));
  }

  /** A plain request that was let in is answered, whatever becomes of its credentials meanwhile. */
  private admit(caller: Caller, counts: boolean): void {
    const { request, reply } = this;
    if (request.raw.socket.destroyed) return this.done();
    this.caller = caller;
    try {
      if (counts) {
        this.countedAs = limitName(caller, request.raw.socket.remoteAddress);
        reply.raw.once('close', this.guards.limits.enter(this.countedAs));
      }
      if (this.route.isStream) this.openStream();
      else permitStreams(request.raw, this);
    } catch (error) {
      void reply.header('retry-after', retryAfter(error));
      if (Number(request.headers['content-length'] ?? 0) > 0) this.guards.refused.drop(request.raw);
      return this.done(error as Error);
    }
    if (this.route.access === 'public') return this.done();
    const refuse = (error: Error): void => {
      void reply.header('retry-after', retryAfter(error));
      this.done(error);
    };
    this.guards.turns.begin(request, this.route.isStream, () => this.done(), refuse);
  }

  private refuse(error: Error): void {
    if (this.route.access === 'public') return this.done();
    this.challenge(presentedCredentials(this.request.headers) ? ', error="invalid_token"' : '');
    this.done(error);
  }

  /** RFC 6750, section 3. */
  private challenge(details: string): void {
    void this.reply.header('www-authenticate', `Bearer realm="parley"${details}`);
  }
}

/** Ends a stream; tells whether it had begun. Keeps nothing of the request: a stream may be open for hours. */
function endOf(raw: ServerResponse): () => boolean {
  return () => raw.headersSent && raw.destroy() === raw;
}
