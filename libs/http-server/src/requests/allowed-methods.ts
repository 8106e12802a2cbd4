import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../problem.js';

/** Routes whose address alone decides which methods exist. A2A and MCP answer other methods in their own form. */
const KNOWN = /^\/(agui|api|health|files|auth|schemas|agent-notifications|hooks|metrics|\.well-known)(\/|$)/;

/** Route of the service: its segments, each a text or `undefined` for a parameter, and its methods. */
interface KnownRoute {
  readonly segments: readonly (string | undefined)[];
  readonly methods: Set<string>;
}

/** Methods of all routes of the service, to answer 405 instead of 404 where an address has a route. */
class AllowedMethods {
  readonly #routes = new Map<string, KnownRoute>();

  addRoute(url: string, methods: readonly string[]): void {
    if (!KNOWN.test(url) || /[*(]/.test(url)) return;
    const segments = segmentsOf(url).map((it) => (it.startsWith(':') ? undefined : it));
    const route = this.#routes.get(url) ?? { segments, methods: new Set() };
    for (const method of methods) route.methods.add(method);
    this.#routes.set(url, route);
  }

  /**
   * Returns the methods at an address, in alphabetical order; none if nothing is there. Of several routes those with the
   * fewest parameters count: `/api/runs/cancel` is no run.
   */
  findMethods(path: string): string[] {
    if (!KNOWN.test(path)) return [];
    const sent = segmentsOf(path);
    const found = [...this.#routes.values()].filter(({ segments }) => isAt(segments, sent));
    const fewest = Math.min(...found.map(countParameters));
    const closest = found.filter((it) => countParameters(it) === fewest);
    return [...new Set(closest.flatMap(({ methods }) => [...methods]))].toSorted();
  }
}

/**
 * Answers a method that no route of an address has with 405 and `Allow` (RFC 9110, section 15.5.6), without reading
 * the body. Call this function before routes are registered, and after `guardRoutes`: a caller without credentials
 * gets 401 first.
 */
export function refuseOtherMethods(fastify: FastifyInstance): void {
  const allowed = new AllowedMethods();
  fastify.addHook('onRoute', ({ url, method }) => allowed.addRoute(url, [method].flat()));
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    const methods = allowed.findMethods(request.url.split('?', 1)[0] ?? '');
    if (methods.length === 0 || methods.includes(request.method)) return done();
    void reply.header('allow', methods.join(', '));
    done(new ProblemError(405, 'The method is not allowed at this address'));
  });
}

function countParameters({ segments }: KnownRoute): number {
  return segments.filter((it) => it === undefined).length;
}

function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/').slice(1);
}

function isAt(segments: KnownRoute['segments'], sent: readonly string[]): boolean {
  return segments.length === sent.length && segments.every((it, at) => (it === undefined ? sent[at] : it === sent[at]));
}
