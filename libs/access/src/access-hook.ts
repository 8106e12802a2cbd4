import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { permissionDenied } from './access-errors.js';
import type { Authentication } from './authentication.js';
import type { Caller } from './caller.js';
import { presentedCredentials } from './credentials.js';
import { identify } from './request-caller.js';
import { type RouteAccess, routeAccess } from './route-access.js';

/**
 * Lets no request through whose caller is not known or may not do what it asks; to be called before routes are
 * registered. Refusals are A2AErrors that each surface tells in its own shape. A public document is told to everyone,
 * whatever credentials come with it.
 */
export function guardRoutes(fastify: FastifyInstance, authentication: Authentication): void {
  if (!authentication.required) return;
  const accesses = new Map<string, RouteAccess>();
  fastify.addHook('onRequest', (request, reply, done) => {
    const { url } = request.routeOptions;
    const name = `${request.method} ${url}`;
    let access = accesses.get(name);
    // Routes are few; an address that has none is not kept.
    if (!access) {
      access = routeAccess(request.method, url);
      if (url !== undefined) accesses.set(name, access);
    }
    admit(authentication, access, request, reply, done);
  });
}

type Done = (error?: Error) => void;

/** Waits only where the credentials are not known yet. */
function admit(
  authentication: Authentication,
  access: RouteAccess,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
): void {
  const credentials = presentedCredentials(request.headers);
  if (access === 'public' && !credentials) return done();
  const enter = (caller: Caller): void => done(entering(access, caller, request, reply));
  const refuse = (error: unknown): void =>
    access === 'public' ? done() : done(refused(error as Error, request, reply));
  let caller: Caller | Promise<Caller>;
  try {
    caller = authentication.caller(credentials);
  } catch (error) {
    return refuse(error);
  }
  if (caller instanceof Promise) caller.then(enter, refuse);
  else enter(caller);
}

function entering(
  access: RouteAccess,
  caller: Caller,
  { raw }: FastifyRequest,
  reply: FastifyReply,
): Error | undefined {
  identify(raw, caller);
  if (access === 'public' || access.some((it) => caller.permissions.has(it))) return undefined;
  void reply.header('www-authenticate', `${CHALLENGE}, error="insufficient_scope", scope="${access.join(' ')}"`);
  return permissionDenied(access);
}

function refused(error: Error, { headers }: FastifyRequest, reply: FastifyReply): Error {
  if (presentedCredentials(headers)) void reply.header('www-authenticate', `${CHALLENGE}, error="invalid_token"`);
  else void reply.header('www-authenticate', CHALLENGE);
  return error;
}

const CHALLENGE = 'Bearer realm="parley"';
