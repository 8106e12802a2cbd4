import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { foreignPage, hostMissing } from '../access-errors.js';
import type { BrowserGuard } from './browser-guard.js';

/** Reads that have something fetched from elsewhere: what answers to them is not all that they do. */
const FETCHING = /^\/api\/agent-card$/;

/**
 * Refuses what pages of others have a browser ask for; to be called before `guardRoutes`, so that it comes before
 * credentials are looked at and before anything is read. Refusals are A2AErrors that each surface tells in its own shape.
 * It also refuses what names no host: Node, which would, closes the connection at once, and a caller that is still
 * sending loses the answer.
 */
export function guardBrowsers(fastify: FastifyInstance, guard: BrowserGuard): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (lacksHost(request.raw)) return done(hostMissing());
    if (guard.clears(request.raw)) return done();
    done(guard.refusal(request.raw, request.routeOptions.url));
  });
  fastify.addHook('onRoute', (route) => {
    if (FETCHING.test(route.url)) route.onRequest = [route.onRequest ?? [], refuseUnmarked].flat();
  });
}

function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion !== '1.0';
}

/** On plain HTTP, other than on loopback, no browser says which page an image is for: only what is none may leave it out. */
function refuseUnmarked({ headers }: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  done(isBrowser(headers) && !isMarked(headers) ? foreignPage() : undefined);
}

/** Every browser calls itself so, and no page can change that. */
function isBrowser(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent']?.startsWith('Mozilla/') === true;
}

/** Only a script of our own page can have sent it, or one that CORS asked about: the guard has looked at both. */
function isMarked(headers: IncomingHttpHeaders): boolean {
  return ['sec-fetch-site', 'origin', 'x-requested-with'].some((name) => headers[name] !== undefined);
}
