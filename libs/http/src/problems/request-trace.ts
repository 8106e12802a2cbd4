import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { inboundTrace } from '#libs/service';

const BEGUN = new WeakMap<Pick<IncomingMessage, 'headers'>, string>();

/**
 * The trace of a request whose caller traces: the caller's, or where that cannot be read one that begins with the request,
 * the same whenever it is asked for. Without a `traceparent` there is none, so that the answers to two requests that are
 * alike are alike.
 */
export function requestTrace(request: Pick<IncomingMessage, 'headers'>): { trace_id?: string } {
  if (request.headers['traceparent'] === undefined) return {};
  const traceId = inboundTrace(request.headers)?.traceId ?? BEGUN.get(request) ?? randomBytes(16).toString('hex');
  BEGUN.set(request, traceId);
  return { trace_id: traceId };
}
