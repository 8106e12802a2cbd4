import { type ServiceError, status } from '@grpc/grpc-js';

/** What came back of one request over HTTP. */
export interface HttpAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The balancer's own answers are plain text. */
const JSON_TYPE = /[/+]json/;
const INTERNAL = /"code":-32603\b/;

/**
 * Why no caller should get such an answer, whatever breaks: an internal error tells nobody whether to try again. What
 * passes is 503 with Retry-After, in every binding of HTTP. `undefined` where the answer is proper.
 */
export function impropriety({ status: code, headers, text }: HttpAnswer): string | undefined {
  if (!JSON_TYPE.test(headers.get('content-type') ?? '')) return undefined;
  const said = `${code} ${text.slice(0, 300)}`;
  if (code >= 500 && code !== 503) return said;
  if (code === 503) return headers.get('retry-after') === null ? `without Retry-After: ${said}` : undefined;
  return INTERNAL.test(text) ? said : undefined;
}

/** The same of what gRPC ended a call with: what passes is UNAVAILABLE, or the caller's own DEADLINE_EXCEEDED. */
export function grpcImpropriety(error: unknown): string | undefined {
  const { code, details } = error as Partial<ServiceError>;
  if (code !== status.INTERNAL && code !== status.UNKNOWN) return undefined;
  return `gRPC ${status[code]} ${details ?? ''}`;
}
