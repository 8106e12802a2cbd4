/** Problem of a request. */
export interface ParleyProblemEntry {
  /** Field at fault; `''` for the whole request. */
  path: string;
  detail: string;
  code?: string;
}

/** Contents of an error answer of the service. */
export interface ParleyProblem {
  status: number;
  reason: string;
  message: string;
  errors?: readonly ParleyProblemEntry[];
  requestId?: string;
  cause?: unknown;
}

/** Error answer of the service: `reason` is for programs (`MISSING_INPUT`, `NOT_FOUND`, …), `message` for people. */
export class ParleyError extends Error {
  override readonly name: string = 'ParleyError';
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  readonly reason: string;
  /** Problems of the request, one entry each. */
  readonly errors: readonly ParleyProblemEntry[];
  /** Id of the request, which is also in the service's log. */
  readonly requestId: string | undefined;

  constructor({ status, reason, message, errors = [], requestId, cause }: ParleyProblem) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
    this.errors = errors;
    this.requestId = requestId;
  }

  /** Returns the error for an answer that no Parley gives: another server is at the URL. */
  static foreign({ status }: Response, expected: string): ParleyError {
    const message = `the service answered ${status} with something else than ${expected}: is there a Parley at this URL?`;
    return new ParleyError({ status, reason: 'UNKNOWN', message });
  }

  /** Returns the error of an answer of `/api`, also if a proxy in front of the service answered. */
  static async of(response: Response): Promise<ParleyError> {
    const text = await response.text().catch(() => '');
    const { detail, reason, errors, requestId } = parseProblem(text);
    return new ParleyError({
      status: response.status,
      reason: typeof reason === 'string' ? reason : 'UNKNOWN',
      message: typeof detail === 'string' ? detail : `the service answered ${response.status}`,
      ...(Array.isArray(errors) && { errors: errors as ParleyProblemEntry[] }),
      ...(typeof requestId === 'string' && { requestId }),
    });
  }
}

/** Error of a service that did not answer, retries included. It is unknown whether the service received the request. */
export class ParleyUnreachable extends ParleyError {
  override readonly name = 'ParleyUnreachable';

  constructor(url: string, cause: unknown) {
    super({ status: 0, reason: 'UNREACHABLE', message: `${url} cannot be reached${failureCode(cause)}`, cause });
  }
}

/** Returns why `fetch` failed, if it reports that; browsers do not. */
function failureCode(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? ` (${cause.code})` : '';
}

function parseProblem(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
