import type { IncomingHttpHeaders } from 'node:http';
import { Metadata } from '@grpc/grpc-js';
import { type CallContext, readIdempotencyKey, type ServedAgent } from '#libs/executor';
import type { TaskScope } from '#libs/tasks';
import { activeExtensions } from '../extensions.js';
import { activatedExtensions, readTrace } from '../http/call-context.js';

/** Converts metadata to the headers that HTTP would have, with names in lower case. */
export function headersOf(metadata: Metadata): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const name of Object.keys(metadata.getMap())) {
    if (!name.endsWith('-bin')) headers[name] = metadata.get(name).map(String).join(', ');
  }
  return headers;
}

/** Creates the context of a call. Service parameters are metadata of the same names (section 10.2). */
export function grpcCall(headers: IncomingHttpHeaders, agent: string, scope: TaskScope, baseUrl: string): CallContext {
  const key = headers['idempotency-key'];
  return {
    scope,
    agent,
    extensions: activatedExtensions(headers['a2a-extensions']),
    baseUrl,
    ...(key !== undefined && { idempotencyKey: readIdempotencyKey(key) }),
    ...readTrace(headers),
  };
}

/** Returns the metadata of an answer: the requested extensions that are active at the agent. */
export function answerMetadata(call: CallContext, agent: ServedAgent): Metadata {
  const metadata = new Metadata();
  const active = activeExtensions(call.extensions, agent);
  if (active.length > 0) metadata.set('a2a-extensions', active.join(', '));
  return metadata;
}
