import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { retryAfter } from './caller-limits.js';

/** On the request itself, as the caller is. */
const PERMIT = Symbol('stream permit');

interface Permitted extends IncomingMessage {
  [PERMIT]?: (() => () => void) | undefined;
}

/** Says what a request asks when it turns out to be for a stream: nothing, where it may not open one at all. */
export function permitStreams(request: IncomingMessage, begin: (() => () => void) | undefined): void {
  (request as Permitted)[PERMIT] = begin;
}

/**
 * Lets the answer be a stream, until it closes; to be called before anything is done for it, again without effect. Where a route answers with
 * nothing but a stream, the auth guard has asked already.
 * @throws A2AError RATE_LIMITED
 */
export function admitStream(reply: FastifyReply): void {
  const begin = (reply.request.raw as Permitted)[PERMIT];
  if (!begin) return;
  try {
    reply.raw.once('close', begin());
    permitStreams(reply.request.raw, undefined);
  } catch (error) {
    void reply.header('retry-after', retryAfter(error));
    throw error;
  }
}
