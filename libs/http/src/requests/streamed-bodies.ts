import { finished, type Readable } from 'node:stream';
import { RouteConfig } from '@nestjs/platform-fastify';
import { type FastifyInstance, type FastifyRequest, errorCodes } from 'fastify';

/** Bytes that a streamed body counts as while in progress: the part in memory at a time. */
export const STREAMED_BODY_BYTES = 256 * 1024;

/**
 * Maximum number of bytes read from a streamed body after its request was refused; a client that sends more is
 * disconnected.
 */
const MOST_DRAINED = 64 * 1024 ** 2;
const LONGEST_DRAIN_MS = 10_000;

/** Media type under which Fastify finds the parser; handlers read the client's own type from `request.raw`. */
const STREAMED = 'application/vnd.parley.streamed-body';

interface StreamedRouteConfig {
  streamsBody?: boolean;
}

/**
 * Handler decorator: `@Body()` is the body as a stream, of any media type and length. The handler enforces limits, and
 * reads the stream to its end or passes it to `drainBody`.
 */
export const StreamedBody = (): MethodDecorator => RouteConfig({ streamsBody: true } satisfies StreamedRouteConfig);

/** True if the route of a request reads the body as a stream, which is exempt from the limits of whole bodies. */
export function streamsBody({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean {
  return (routeOptions.config as StreamedRouteConfig | undefined)?.streamsBody === true;
}

/** Passes bodies to the handlers decorated with `StreamedBody`. Call it before routes are registered. */
export function acceptStreamedBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    // Before the parsers: one for JSON or forms must not read the body.
    if (streamsBody(request)) request.headers = { 'content-type': STREAMED };
    done();
  });
  fastify.addContentTypeParser(STREAMED, (request, payload, done) => {
    if (streamsBody(request)) done(null, payload);
    else done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(STREAMED));
  });
}

/**
 * Reads and drops the rest of a body, so that a client still sending sees the answer. Resolves at the body's end; after
 * 64 MiB or ten seconds it closes the connection instead.
 */
export function drainBody(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const countChunk = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > MOST_DRAINED) body.destroy();
    };
    const timer = setTimeout(() => body.destroy(), LONGEST_DRAIN_MS).unref();
    finished(body, { writable: false }, () => {
      clearTimeout(timer);
      resolve();
    });
    body.on('data', countChunk).resume();
  });
}
