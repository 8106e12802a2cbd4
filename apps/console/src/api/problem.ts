/** One thing that is wrong with a request (RFC 9457, `errors`). */
export interface FieldProblem {
  /** Where, for example `nodes[2].config`. */
  path: string;
  detail: string;
  /** Kind of a problem of a workflow. */
  code?: string;
  /** Of a workflow: whether it can be saved all the same. */
  severity?: 'error' | 'warning';
  /** The id of the node that it is about. */
  node?: string;
  /** The place of the edge that it is about. */
  edge?: number;
  /** Where in the text at the path it begins, in UTF-16 code units. */
  offset?: number;
}

/** What the service, or the way to it, refused; `message` is a plain sentence. */
export class ApiProblem extends Error {
  constructor(
    /** The HTTP status; 0 where no answer came. */
    readonly status: number,
    message: string,
    readonly errors: readonly FieldProblem[] = [],
    /** The trace that the request belongs to, by which the service's log and a tracing system find it. */
    readonly traceId?: string,
  ) {
    super(message);
    this.name = 'ApiProblem';
  }
}

/** Reads a refusal: problem+json where there is one, else a sentence for its status. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const body = await readObject(response);
  const errors = Array.isArray(body['errors']) ? body['errors'].filter(isFieldProblem) : [];
  const detail = typeof body['detail'] === 'string' ? body['detail'] : undefined;
  const traceId = typeof body['trace_id'] === 'string' ? body['trace_id'] : undefined;
  return new ApiProblem(response.status, detail ?? sentenceFor(response.status), errors, traceId);
}

export function sentenceFor(status: number): string {
  if (status === 0) return 'The service cannot be reached. It may be restarting; try again in a moment.';
  if (status === 401) return 'The service wants an API key.';
  if (status === 403) return 'This key may not do that.';
  if (status === 404) return 'There is no such thing here. It may have been deleted.';
  if (status === 429) return 'Too many requests. Try again in a moment.';
  if (status === 503) return 'The service is not ready. Try again in a moment.';
  if (status >= 500) return 'The service failed to answer. Its log says why.';
  return `The service refused the request (${status}).`;
}

/** Whether the caller is known, and may not do it. */
export function isForbidden(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 403;
}

/** True if the service was away or not ready, so that the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiProblem && [0, 502, 503].includes(error.status);
}

/** Any error as the sentence that a person reads. */
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

function isFieldProblem(value: unknown): value is FieldProblem {
  if (typeof value !== 'object' || value === null) return false;
  const { path, detail } = value as Record<string, unknown>;
  return typeof path === 'string' && typeof detail === 'string';
}
