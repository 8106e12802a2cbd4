import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { inboundTrace } from '#libs/service';

const BEGUN = new WeakMap<Pick<IncomingMessage, 'headers'>, string>();

/**
 * Returns the trace of a request with a `traceparent`: the caller's, or if that is invalid a new one, the same for each
 * call. Without a `traceparent` there is no trace, so equal requests get equal answers.
 */
export function requestTrace(request: Pick<IncomingMessage, 'headers'>): { trace_id?: string } {
  if (request.headers['traceparent'] === undefined) return {};
  const traceId = inboundTrace(request.headers)?.traceId ?? BEGUN.get(request) ?? randomBytes(16).toString('hex');
  BEGUN.set(request, traceId);
  return { trace_id: traceId };
}
