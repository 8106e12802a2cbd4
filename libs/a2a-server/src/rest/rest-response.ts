import type { FastifyReply, FastifyRequest } from 'fastify';
import { setRetryAfter } from '#libs/access';
import type { A2AError } from '#libs/protocol';
import type { StreamFraming } from '../http/event-stream.js';

const A2A_JSON = 'application/a2a+json';
const PLAIN_JSON = 'application/json';

/** Sends JSON as `application/a2a+json`, or as `application/json` to a caller that accepts only that (section 11.1). */
export function sendRest(request: FastifyRequest, reply: FastifyReply, json: string): void {
  const { accept } = request.headers;
  const plain = accept !== undefined && accept.includes(PLAIN_JSON) && !accept.includes(A2A_JSON);
  reply.header('content-type', plain ? PLAIN_JSON : A2A_JSON).send(json);
}

/** Sends an error as `google.rpc.Status` with its HTTP status (section 11.6). */
export function sendRestError(request: FastifyRequest, reply: FastifyReply, error: A2AError): void {
  reply.code(error.status);
  setRetryAfter(error, reply);
  sendRest(request, reply, restErrorBody(error));
}

export function restErrorBody(error: A2AError): string {
  const { status, grpc, message } = error;
  return JSON.stringify({ error: { code: status, status: grpc, message, details: error.toDetails() } });
}

/**
 * Framing of streams: items unchanged; an error after the first item is an SSE event of type `error` (section 11.7).
 */
export const REST_FRAMING: StreamFraming = {
  frameItem: ({ json }) => json,
  frameError: (error) => ({ event: 'error', data: restErrorBody(error) }),
};
