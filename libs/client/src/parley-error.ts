/** One thing that is wrong with a request. */
export interface ParleyProblemEntry {
  /** The field at fault; `''` where it is the whole. */
  path: string;
  detail: string;
  code?: string;
}

/** What an answer of the service says where it is an error. */
export interface ParleyProblem {
  status: number;
  reason: string;
  message: string;
  errors?: readonly ParleyProblemEntry[];
  requestId?: string;
  cause?: unknown;
}

/** The service refused a request: `reason` is for programs (`MISSING_INPUT`, `NOT_FOUND`, …), `message` for people. */
export class ParleyError extends Error {
  override readonly name: string = 'ParleyError';
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly reason: string;
  /** One entry for each thing that is wrong. */
  readonly errors: readonly ParleyProblemEntry[];
  /** Names the request; the service's log names it too. */
  readonly requestId: string | undefined;

  constructor({ status, reason, message, errors = [], requestId, cause }: ParleyProblem) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
    this.errors = errors;
    this.requestId = requestId;
  }

  /** An answer that no Parley gives: something else is at the URL. */
  static foreign({ status }: Response, expected: string): ParleyError {
    const message = `the service answered ${status} with something else than ${expected}: is there a Parley at this URL?`;
    return new ParleyError({ status, reason: 'UNKNOWN', message });
  }

  /** The error that an answer of `/api` is, whatever stands before the service and answers in its place. */
  static async of(response: Response): Promise<ParleyError> {
    const text = await response.text().catch(() => '');
    const { detail, reason, errors, requestId } = problemOf(text);
    return new ParleyError({
      status: response.status,
      reason: typeof reason === 'string' ? reason : 'UNKNOWN',
      message: typeof detail === 'string' ? detail : `the service answered ${response.status}`,
      ...(Array.isArray(errors) && { errors: errors as ParleyProblemEntry[] }),
      ...(typeof requestId === 'string' && { requestId }),
    });
  }
}

/** The service did not answer, however often it was asked. Whether it took the request is not known. */
export class ParleyUnreachable extends ParleyError {
  override readonly name = 'ParleyUnreachable';

  constructor(url: string, cause: unknown) {
    super({ status: 0, reason: 'UNREACHABLE', message: `${url} cannot be reached${codeOf(cause)}`, cause });
  }
}

/** Why `fetch` failed, where it says so: browsers do not. */
function codeOf(error: unknown): string {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? ` (${cause.code})` : '';
}

function problemOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
