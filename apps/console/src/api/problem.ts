/** A problem of a request (an entry of `errors`, RFC 9457). A problem of a workflow also names its node or edge. */
export type ProblemDetail = Schemas['ProblemEntry'] & Partial<Schemas['WorkflowProblemView']>;

import type { Schemas } from '#libs/client';

/** A refusal by the service, or a failure to reach it; `message` is a plain sentence. */
export class ApiProblem extends Error {
  constructor(
    /** HTTP status; 0 if no answer came. */
    readonly status: number,
    message: string,
    readonly errors: readonly ProblemDetail[] = [],
    /** Trace id of the request, as in the service's log and in a tracing system; absent if the answer names none. */
    readonly traceId?: string,
  ) {
    super(message);
    this.name = 'ApiProblem';
  }
}

/**
 * Converts an error response to an ApiProblem: from its problem+json if present, else with a sentence for its status.
 */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const body = await readObject(response);
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isFieldProblem) : [];
  const detail = typeof body['detail'] === 'string' ? body['detail'] : undefined;
  const traceId = typeof body['trace_id'] === 'string' ? body['trace_id'] : undefined;
  return new ApiProblem(response.status, detail ?? sentenceFor(response.status), errors, traceId);
}

export function sentenceFor(status: number): string {
  if (status === 0) return 'The service cannot be reached. It may be restarting; try again in a moment.';
  if (status === 401) return 'The service requires an API key.';
  if (status === 403) return 'This key lacks permission for that.';
  if (status === 404) return 'Not found. It may have been deleted.';
  if (status === 429) return 'Too many requests. Try again in a moment.';
  if (status === 503) return 'The service is not ready. Try again in a moment.';
  if (status >= 500) return 'The service failed to answer. Its log says why.';
  return `The service refused the request (${status}).`;
}

/** True if the caller is known but lacks the permission. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 403;
}

/** True if the service was away or not ready, so that the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiProblem && [0, 502, 503].includes(error.status);
}

/** Returns an error as a sentence for the person. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function readObject(response: Response): Promise<Record<string, unknown>> {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isFieldProblem(value: unknown): value is ProblemDetail {
  if (typeof value !== 'object' || value === null) return false;
  const { path, detail } = value as Record<string, unknown>;
  return typeof path === 'string' && typeof detail === 'string';
}
