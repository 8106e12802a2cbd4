/** Problem of a request, with the field at fault. */
export interface ParleyProblemEntry {
  /** Field at fault; `''` for the whole request. */
  path: string;
  detail: string;
  code?: string;
}

/** Members of an error answer of the service, from which a ParleyError is made. */
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
  /** Problems of the request's fields, if the service names any. */
  readonly errors: readonly ParleyProblemEntry[];
  /** Id of the request, which is also in the service's log; `undefined` if the service sent none. */
  readonly requestId: string | undefined;

  constructor({ status, reason, message, errors = [], requestId, cause }: ParleyProblem) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
    this.errors = errors;
    this.requestId = requestId;
  }

  /**
   * Returns the error for an answer that a Parley service never gives: another server is at the URL.
   * @param expected description of the expected answer
   */
  static foreign({ status }: Response, expected: string): ParleyError {
    const message = `the service answered ${status} with something else than ${expected}: is there a Parley at this URL?`;
    return new ParleyError({ status, reason: 'UNKNOWN', message });
  }

  /** Returns the error for an error answer of `/api`. A proxy in front of the service may have sent the answer. */
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

/**
 * Error of a call that got no answer from the service, also after retries. It is unknown whether the service received
 * the request.
 */
export class ParleyUnreachable extends ParleyError {
  override readonly name = 'ParleyUnreachable';

  constructor(url: string, cause: unknown) {
    super({ status: 0, reason: 'UNREACHABLE', message: `${url} cannot be reached${failureCode(cause)}`, cause });
  }
}

/** Returns the system error code of a failed `fetch` in parentheses; '' in browsers, which report none. */
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
