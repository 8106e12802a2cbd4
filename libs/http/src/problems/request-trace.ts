import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { inboundTrace } from '#libs/service';

const BEGUN = new WeakMap<Pick<IncomingMessage, 'headers'>, string>();

/** The trace of a request: its caller's, else one that begins with it, the same whenever it is asked for. */
export function requestTraceId(request: Pick<IncomingMessage, 'headers'>): string {
  const traceId = inboundTrace(request.headers)?.traceId ?? BEGUN.get(request) ?? randomBytes(16).toString('hex');
  BEGUN.set(request, traceId);
  return traceId;
}
