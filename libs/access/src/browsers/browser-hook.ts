import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { foreignPage, hostMissing } from '../access-errors.js';
import type { BrowserGuard } from './browser-guard.js';

/** Reads that fetch from remote servers, so they have effects beyond their response. */
const FETCHING = /^\/api\/agent-card$/;

/**
 * Refuses requests that foreign pages cause in a browser. Call it before `guardRoutes`, so that it runs before
 * credentials are verified and before any body is read. Refusals are A2AErrors that each surface renders in its own
 * form. It also refuses requests without a host: Node would close the connection at once, and a caller that is still
 * sending would lose the response.
 */
export function guardBrowsers(fastify: FastifyInstance, guard: BrowserGuard): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    if (lacksHost(request.raw)) return done(hostMissing());
    if (guard.clearsRequest(request.raw)) return done();
    done(guard.findRefusal(request.raw, request.routeOptions.url));
  });
  fastify.addHook('onRoute', (route) => {
    if (FETCHING.test(route.url)) route.onRequest = [route.onRequest ?? [], refuseUnmarked].flat();
  });
}

function lacksHost({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.host === undefined && httpVersion !== '1.0';
}

/**
 * Refuses browser requests without origin headers. On plain HTTP, except on loopback, browsers do not reveal the page
 * behind an image; only other clients may omit the headers.
 */
function refuseUnmarked({ headers }: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  done(isBrowser(headers) && !isMarked(headers) ? foreignPage() : undefined);
}

/** True if the client identifies itself as a browser; pages cannot change that header. */
function isBrowser(headers: IncomingHttpHeaders): boolean {
  return headers['user-agent']?.startsWith('Mozilla/') === true;
}

/** True if only a script of this service's page, or one that CORS permitted, can have sent the request. */
function isMarked(headers: IncomingHttpHeaders): boolean {
  return ['sec-fetch-site', 'origin', 'x-requested-with'].some((name) => headers[name] !== undefined);
}
