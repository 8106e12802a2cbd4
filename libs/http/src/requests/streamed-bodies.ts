import { finished, type Readable } from 'node:stream';
import { RouteConfig } from '@nestjs/platform-fastify';
import { type FastifyInstance, type FastifyRequest, errorCodes } from 'fastify';

/** Bytes that a streamed body counts as while it is under way: what of it is in memory at a time. */
export const STREAMED_BODY_BYTES = 256 * 1024;

/** Bytes that are still read of a streamed body whose request was refused; a client that sends more is cut. */
const MOST_DRAINED = 64 * 1024 ** 2;
const LONGEST_DRAIN_MS = 10_000;

/** Media type under which Fastify finds the parser; the handler reads the client's own from `request.raw`. */
const STREAMED = 'application/vnd.parley.streamed-body';

interface StreamedRouteConfig {
  streamsBody?: boolean;
}

/**
 * A handler's decorator: `@Body()` is the body as a stream, of any media type and length. The handler enforces the limits,
 * and reads the stream to its end or gives it to `drainBody`.
 */
export const StreamedBody = (): MethodDecorator => RouteConfig({ streamsBody: true } satisfies StreamedRouteConfig);

/** True if the route of a request reads the body as a stream: no limit of whole bodies holds for it. */
export function streamsBody({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean {
  return (routeOptions.config as StreamedRouteConfig | undefined)?.streamsBody === true;
}

/** Hands bodies to the handlers that are decorated with `StreamedBody`. To be called before routes are registered. */
export function acceptStreamedBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    // Before the parsers: one for JSON or forms must not read it.
    if (streamsBody(request)) request.headers = { 'content-type': STREAMED };
    done();
  });
  fastify.addContentTypeParser(STREAMED, (request, payload, done) => {
    if (streamsBody(request)) done(null, payload);
    else done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(STREAMED));
  });
}

/**
 * Reads and drops what is left of a body, so that its client, which may still be sending, sees the answer. Resolves at
 * the body's end; after 64 MiB or ten seconds the connection closes instead.
 */
export function drainBody(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > MOST_DRAINED) body.destroy();
    };
    const timer = setTimeout(() => body.destroy(), LONGEST_DRAIN_MS).unref();
    finished(body, { writable: false }, () => {
      clearTimeout(timer);
      resolve();
    });
    body.on('data', count).resume();
  });
}
