import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';
import { permissionDenied } from './access-errors.js';
import type { Authentication } from './authentication.js';
import {
  type CallerLimits,
  limitName,
  type LoopTurns,
  permitStreams,
  retryAfter,
  type StreamPermit,
} from './caller-limits.js';
import { type Caller, setCaller } from './caller.js';
import { type Credentials, presentedCredentials } from './credentials.js';
import type { OpenCalls } from './open-calls.js';
import type { RefusedBodies } from './refused-bodies.js';
import { isStream, type RouteAccess, routeAccess } from './route-access.js';
import type { SessionCookies } from './session-cookies.js';

export interface Guards {
  authentication: Authentication;
  openCalls: OpenCalls;
  limits: CallerLimits;
  refused: RefusedBodies;
  turns: LoopTurns;
  /** Sessions of the console; absent in a process without a console. */
  cookies?: SessionCookies;
}

/**
 * Guards every route: authenticates callers, checks their permissions, and applies their limits. Call this function
 * before routes are registered.
 *
 * - The guard is a server hook instead of a Nest guard: it must also cover the routes of A2A, which are no
 *   controllers (ADR 4), and run before any body is read.
 * - Requests of unknown callers, or without the permission, are refused with A2AErrors, which `/api` and each binding
 *   of A2A write in their own formats.
 * - Public documents are served to everyone, with any credentials, and without limits.
 * - Handlers get the caller by `@Caller()`, `@Scope()` and `@Call()`.
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
      // The number of routes and of their methods is small.
      if (url !== undefined) routes.set(name, route);
    }
    new RequestAdmission(guards, route, request, reply, done).startAdmission();
  });
}

interface GuardedRoute {
  access: RouteAccess;
  /** True if the route responds with nothing but a stream. */
  isStream: boolean;
  /** True if any limit applies to callers of the route. */
  isLimited: boolean;
}

/** Admission of one request by the auth guard. */
class RequestAdmission implements StreamPermit {
  private caller: Caller | undefined;
  /** Name of the account that counts the caller's requests; `undefined` if they do not count. */
  private countedAs: string | undefined;

  constructor(
    private readonly guards: Guards,
    private readonly route: GuardedRoute,
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly done: (error?: Error) => void,
  ) {}

  /** Authenticates the request, and continues with the next check. Waits only for credentials that are not cached. */
  startAdmission(): void {
    const credentials = this.readCredentials();
    const { access, isLimited } = this.route;
    if (access === 'public' && !credentials) return this.done();
    try {
      const { authentication } = this.guards;
      const caller = authentication.identifyCaller(credentials);
      // Node calls of replicas are not limited. Without authentication any caller could claim to be a node.
      const counts = isLimited && !(authentication.required && credentials?.kind === 'node');
      if (!(caller instanceof Promise)) return this.checkPermission(caller, counts);
      caller.then(
        (known) => this.checkPermission(known, counts),
        (error: unknown) => this.refuseRequest(error as Error),
      );
    } catch (error) {
      this.refuseRequest(error as Error);
    }
  }

  /**
   * Opens a stream within the caller's limits. The stream ends when the caller's credentials expire or are revoked.
   * @throws A2AError RATE_LIMITED
   */
  openStream(): void {
    const { caller, countedAs, reply } = this;
    // The response of a destroyed socket emits no `close`, so nothing would be released.
    if (this.request.raw.socket.destroyed) return;
    if (countedAs !== undefined) reply.raw.once('close', this.guards.limits.enterStream(countedAs));
    if (caller?.proof) reply.raw.once('close', this.guards.openCalls.watchStream(caller, endOf(reply.raw)));
  }

  /** Returns the credentials of the request; a key or token takes precedence over the session of the console. */
  private readCredentials(): Credentials | undefined {
    const { headers, raw } = this.request;
    const presented = presentedCredentials(headers);
    if (presented !== undefined || headers.cookie === undefined) return presented;
    const value = this.guards.cookies?.readToken(raw);
    return value === undefined ? undefined : { kind: 'session', value };
  }

  private checkPermission(caller: Caller, counts: boolean): void {
    const { request } = this;
    const { access } = this.route;
    setCaller(request.raw, caller);
    if (access === 'public' || access.some((it) => caller.permissions.has(it)))
      return this.admitWithinLimits(caller, counts);
    this.setChallenge(`, error="insufficient_scope", scope="${access.join(' ')}"`);
    this.done(permissionDenied(access));
  }

  /**
   * Admits a request within the caller's limits. An admitted request that is no stream is answered even if its
   * credentials expire in the meantime.
   * @param counts true if the request counts toward the caller's limits
   */
  private admitWithinLimits(caller: Caller, counts: boolean): void {
    const { request, reply } = this;
    if (request.raw.socket.destroyed) return this.done();
    this.caller = caller;
    try {
      if (counts) {
        this.countedAs = limitName(caller, request.raw.socket.remoteAddress);
        reply.raw.once('close', this.guards.limits.enterRequest(this.countedAs));
      }
      if (this.route.isStream) this.openStream();
      else permitStreams(request.raw, this);
    } catch (error) {
      void reply.header('retry-after', retryAfter(error));
      if (Number(request.headers['content-length'] ?? 0) > 0) this.guards.refused.dropBody(request.raw);
      return this.done(error as Error);
    }
    if (this.route.access === 'public') return this.done();
    const refuseTurn = (error: Error): void => {
      void reply.header('retry-after', retryAfter(error));
      this.done(error);
    };
    this.guards.turns.beginRequest(request, this.route.isStream, () => this.done(), refuseTurn);
  }

  private refuseRequest(error: Error): void {
    if (this.route.access === 'public') return this.done();
    this.setChallenge(this.readCredentials() ? ', error="invalid_token"' : '');
    this.done(error);
  }

  /**
   * Sets the `WWW-Authenticate` header (RFC 6750, section 3).
   * @param details parameters of the challenge after the realm
   */
  private setChallenge(details: string): void {
    void this.reply.header('www-authenticate', `Bearer realm="parley"${details}`);
  }
}

/**
 * Returns a function that ends the stream of a response. The function returns true if the stream had begun, and keeps
 * no reference to the request, since a stream may be open for hours.
 */
function endOf(raw: ServerResponse): () => boolean {
  return () => raw.headersSent && raw.destroy() === raw;
}
