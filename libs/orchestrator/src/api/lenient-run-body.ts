import { Readable } from 'node:stream';
import { Injectable, type OnModuleInit, PayloadTooLargeException } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';

const ROUTE = '/api/workflows/:name/run';

/**
 * Row F2: a body of `POST /api/workflows/{name}/run` that is empty or no JSON stands for no inputs. The body is read
 * as JSON whatever its content type says, so that a bare `curl -d` works.
 */
@Injectable()
export class LenientRunBody implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('preParsing', async (request, _reply, payload) =>
      request.routeOptions.url === ROUTE ? asJson(request, payload) : payload,
    );
  }
}

async function asJson(request: FastifyRequest, payload: RequestPayload): Promise<RequestPayload> {
  const sent = await readAll(payload, request.routeOptions.bodyLimit);
  const body = isJson(sent) ? sent : Buffer.from('{}');
  request.raw.headers['content-type'] = 'application/json';
  request.raw.headers['content-length'] = String(body.length);
  return Readable.from([body], { objectMode: false });
}

async function readAll(payload: RequestPayload, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of payload as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new PayloadTooLargeException();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}
