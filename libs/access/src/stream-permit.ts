import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { retryAfter } from './caller-limits.js';

/** Permit that a request uses once it turns out to be for a stream. */
export interface StreamPermit {
  /** @throws A2AError RATE_LIMITED */
  openStream(): void;
}

/** Key of the permit on the request itself, like that of the caller. */
const PERMIT = Symbol('stream permit');

interface Permitted extends IncomingMessage {
  [PERMIT]?: StreamPermit | undefined;
}

/** Sets the permit of a request. */
export function permitStreams(request: IncomingMessage, permit: StreamPermit | undefined): void {
  (request as Permitted)[PERMIT] = permit;
}

/**
 * Admits the response as a stream, until it closes. Call it before any work is done for it; repeated calls have no
 * effect. For routes that respond with nothing but a stream, the auth guard has called it already.
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
