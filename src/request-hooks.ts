import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';
import { randomUUID } from 'node:crypto';
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { finished, type Readable } from 'node:stream';
import { createProblem, streamsBody } from '#libs/http-server';
import { A2AError } from '#libs/protocol';

const OF_AGENTS = /^\/a2a(?=[/?]|$)/;

/**
 * Adds the headers that browsers observe to every answer, except below `/a2a`, which no browser renders: those headers
 * belong to the protocol alone.
 */
export function setBrowserHeaders(fastify: FastifyInstance): void {
  // Only the proxy that terminates TLS knows whether a name is served with TLS alone.
  const set = helmet({ contentSecurityPolicy: false, strictTransportSecurity: false });
  fastify.addHook('onRequest', ({ raw }, reply, done) => {
    if (OF_AGENTS.test(raw.url ?? '')) done();
    else set(raw, reply.raw, done as (error?: unknown) => void);
  });
}

/**
 * Removes the parser of `text/plain`, so that `application/json` is the only type of bodies, even where a body is
 * ignored; any other type is refused with 415. Pages of any origin can send the types of forms without a preflight
 * request. Call it before routes are registered, on a server without Nest's parsers.
 */
export function acceptJsonBodies(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser('text/plain');
}

/**
 * Refuses compressed bodies without reading them: 415, with the accepted coding in `Accept-Encoding` (RFC 9110,
 * sections 12.5.3 and 15.5.16). A small compressed body can expand without limit.
 */
export function refuseCodedBodies(fastify: FastifyInstance): void {
  fastify.addHook('preParsing', ({ headers }, reply, payload, done) => {
    if (headers['content-encoding'] === undefined || !isCoded(headers)) return done(null, payload);
    void reply.header('accept-encoding', 'identity');
    const message = 'The request body must not be compressed: its Content-Encoding is not supported';
    done(new A2AError('INVALID_REQUEST', { message, detailReason: 'CONTENT_CODING_NOT_SUPPORTED', status: 415 }));
  });
}

function isCoded(headers: IncomingHttpHeaders): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && headers['content-encoding']?.trim().toLowerCase() !== 'identity';
}

/** Maximum bytes that are read of a refused body; a larger one closes the connection. */
const MOST_DRAINED = 64 * 1024 * 1024;
const LONGEST_MS = 10_000;

/**
 * Reads a body that declares an excessive length to its end before it is refused. A client that is still sending sees
 * no answer, only a broken connection. The bytes are dropped. Streamed bodies have their own limits.
 */
export function drainOversizedBodies(fastify: FastifyInstance, limit: number): void {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    if (streamsBody(request)) return done(null, payload);
    const length = Number(request.headers['content-length']);
    if (!(length > limit && length <= MOST_DRAINED)) return done(null, payload);
    const signal = AbortSignal.timeout(LONGEST_MS);
    finished((payload as Readable).resume(), { signal, writable: false }, () => done(null, payload));
  });
}

/** Seconds after which a database failover, or the start or stop of a replica, is over. */
const SECONDS = '2';

/** Adds `Retry-After` to every 503 that has none (RFC 9110, section 10.2.3). */
export function addRetryAfter(fastify: FastifyInstance): void {
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (reply.statusCode === 503 && !reply.hasHeader('retry-after')) void reply.header('retry-after', SECONDS);
    done();
  });
}

const STATUSES: Readonly<Record<string, [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive'],
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
};

/**
 * Answers input that is not an HTTP request, or was not received in time; no route sees it. The format is that of the
 * surface that its address seems to mean, if the address is readable.
 */
export function answerUnreadableRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, detail] = STATUSES[error.code ?? ''] ?? [400, 'This is no HTTP request'];
  const [type, body] = A2A.test(beginningOf(error))
    ? (['application/a2a+json', a2aBody(status, detail)] as const)
    : ([
        'application/problem+json',
        JSON.stringify({ ...createProblem(status, detail), requestId: randomUUID() }),
      ] as const);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

/** Returns the start of the last packet that the parser read: the request line, if the rest arrived with it. */
function beginningOf(error: Error): string {
  const { rawPacket } = error as Error & { rawPacket?: unknown };
  return Buffer.isBuffer(rawPacket) ? rawPacket.subarray(0, 64).toString('latin1') : '';
}

const A2A = /^[A-Z]+ \/a2a[/? ]/;

function a2aBody(status: number, message: string): string {
  const error = new A2AError('INVALID_REQUEST', { message, status });
  return JSON.stringify({ error: { code: status, status: error.grpc, message, details: error.toDetails() } });
}
