import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { retryAfter } from './caller-limits.js';

/** What a request asks when it turns out to be for a stream. */
export interface StreamPermit {
  /** @throws A2AError RATE_LIMITED */
  openStream(): void;
}

/** On the request itself, as the caller is. */
const PERMIT = Symbol('stream permit');

interface Permitted extends IncomingMessage {
  [PERMIT]?: StreamPermit | undefined;
}

/** Says whom a request asks. */
export function permitStreams(request: IncomingMessage, permit: StreamPermit | undefined): void {
  (request as Permitted)[PERMIT] = permit;
}

/**
 * Lets the answer be a stream, until it closes; to be called before anything is done for it, again without effect. Where a
 * route answers with nothing but a stream, the auth guard has asked already.
 * @throws A2AError RATE_LIMITED
 */
export function admitStream(reply: FastifyReply): void {
  const { raw } = reply.request;
  const permit = (raw as Permitted)[PERMIT];
  if (!permit) return;
  try {
    permit.openStream();
    permitStreams(raw, undefined);
  } catch (error) {
    void reply.header('retry-after', retryAfter(error));
    throw error;
  }
}
