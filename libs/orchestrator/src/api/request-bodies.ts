import { Readable } from 'node:stream';
import { BadRequestException, Injectable, type OnModuleInit, PayloadTooLargeException } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { hasMoreMembers } from '#libs/http';
import { AppConfig } from '#libs/service';
import type { FastifyError, FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';

type PayloadCallback = (error: FastifyError | null, payload?: RequestPayload) => void;

const RUN_ROUTE = '/api/workflows/:name/run';

/**
 * Accepts bodies that Fastify rejects.
 * - An empty body anywhere in `/api` counts as no body, whatever its content type.
 * - A body of `POST /api/workflows/{name}/run` that is empty, or is declared as JSON and is not JSON, stands for no
 *   inputs.
 */
@Injectable()
export class RequestBodies implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly config: AppConfig,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('preParsing', (request, _reply, payload, done) => {
      // Requests to agents are frequent and need none of this.
      if (request.url.startsWith('/a2a')) return done(null, payload);
      const route = request.routeOptions.url ?? '';
      if (route === RUN_ROUTE && (isEmpty(request) || isCalledJson(request)))
        return void handOn(asJson(request, payload, this.config.content.jsonMembers), done);
      if (route.startsWith('/api/') && isEmpty(request)) delete request.raw.headers['content-type'];
      done(null, payload);
    });
  }
}

async function handOn(body: Promise<RequestPayload>, done: PayloadCallback): Promise<void> {
  let read: RequestPayload;
  try {
    read = await body;
  } catch (error) {
    return done(error as FastifyError);
  }
  done(null, read);
}

function isEmpty({ headers }: FastifyRequest): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] === undefined && (length === undefined || length === '0');
}

function isCalledJson({ headers }: FastifyRequest): boolean {
  return /^application\/json *(;|$)/i.test(headers['content-type'] ?? '');
}

async function asJson(request: FastifyRequest, payload: RequestPayload, mostMembers: number): Promise<RequestPayload> {
  const limit = request.routeOptions.bodyLimit;
  // The body may have been read to its end already; reading it again would never finish.
  if (Number(request.headers['content-length']) > limit) throw new PayloadTooLargeException();
  const sent = await readAll(payload, limit);
  const body = isJson(sent, mostMembers) ? sent : Buffer.from('{}');
  request.raw.headers['content-type'] = 'application/json';
  request.raw.headers['content-length'] = String(body.length);
  return Readable.from([body], { objectMode: false });
}

/** Reads a body whole. Keeps draining one that is too large, so that the caller can read the error. */
function readAll(payload: RequestPayload, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  payload.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else reject(new PayloadTooLargeException());
  });
  payload.once('end', () => resolve(Buffer.concat(chunks)));
  payload.once('error', (cause) => reject(new BadRequestException(undefined, { cause })));
  payload.once('close', () => reject(new BadRequestException()));
  return promise;
}

/** True if the body parses as JSON. One with too many members also passes: the parser rejects it later. */
function isJson(body: Buffer, mostMembers: number): boolean {
  const text = body.toString();
  try {
    if (!hasMoreMembers(text, mostMembers)) JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
