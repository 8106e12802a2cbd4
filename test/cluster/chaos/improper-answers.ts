import { type ServiceError, status } from '@grpc/grpc-js';

/** Received answer of an HTTP request. */
export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Pattern of JSON media types. The balancer's own answers are plain text. */
const JSON_TYPE = /[/+]json/;
const INTERNAL = /"code":-32603\b/;

/**
 * Returns the reason why no caller may get such an answer under any fault: an internal error does not say if a retry
 * helps. The proper temporary error is 503 with Retry-After, in every HTTP binding. `undefined` for a proper answer.
 */
export function impropriety({ status: code, headers, text }: HttpAnswer): string | undefined {
  if (!JSON_TYPE.test(headers.get('content-type') ?? '')) return undefined;
  const said = `${code} ${text.slice(0, 300)}`;
  if (code >= 500 && code !== 503) return said;
  if (code === 503) return headers.get('retry-after') === null ? `without Retry-After: ${said}` : undefined;
  return INTERNAL.test(text) ? said : undefined;
}

/**
 * Returns the reason why no caller may get such an error over gRPC: proper are only UNAVAILABLE, and the caller's own
 * DEADLINE_EXCEEDED.
 */
export function grpcImpropriety(error: unknown): string | undefined {
  const { code, details } = error as Partial<ServiceError>;
  if (code !== status.INTERNAL && code !== status.UNKNOWN) return undefined;
  return `gRPC ${status[code]} ${details ?? ''}`;
}
