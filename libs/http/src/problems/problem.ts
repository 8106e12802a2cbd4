import { STATUS_CODES } from 'node:http';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** Single problem of a request. */
export class ProblemEntry {
  @ApiProperty({ description: "The field at fault; `''` where it is the whole.", example: 'nodes[0].id' })
  path!: string;

  @ApiProperty({ example: 'must be a string' })
  detail!: string;

  @ApiPropertyOptional({ description: 'What kind of fault it is, for programs.', example: 'UNKNOWN_REFERENCE' })
  code?: string;
}

/** Body of an error of `/api` (RFC 9457). */
export class Problem {
  @ApiProperty({ example: 'about:blank' })
  type!: string;

  @ApiProperty({ example: 'Bad Request' })
  title!: string;

  @ApiProperty({ type: 'integer', example: 400 })
  status!: number;

  @ApiProperty({ example: 'nodes[0].id: must be a string' })
  detail!: string;

  @ApiProperty({
    description: 'What it is about, for programs: `NOT_FOUND`, `IDEMPOTENCY_CONFLICT`, …',
    example: 'MALFORMED',
  })
  reason!: string;

  @ApiPropertyOptional({ description: 'The path that was called.', example: '/api/workflows' })
  instance?: string;

  @ApiPropertyOptional({
    description: 'Names the request; the log names it too where it says why.',
    example: '5d1a4c1e-7a53-4f0c-9a57-2f8f0f6f3b52',
  })
  requestId?: string;

  @ApiPropertyOptional({
    description: 'The trace that the request belongs to, where it came with a `traceparent`.',
    example: '4bf92f3577b34da6a3ce929d0e0e4736',
  })
  trace_id?: string;

  @ApiPropertyOptional({ type: [ProblemEntry], description: 'One entry for each thing that is wrong.' })
  errors?: ProblemEntry[];
}

/** Maximum number of entries of a problem. */
export const MOST_ENTRIES = 100;

/** An error of `/api` that its caller may see. Message and the first hundred entries are sent unchanged. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly errors: readonly ProblemEntry[];

  constructor(
    readonly status: number,
    detail: string,
    errors: readonly ProblemEntry[] = [],
    readonly reason = reasonOf(status),
  ) {
    super(detail);
    this.errors = errors.slice(0, MOST_ENTRIES);
  }
}

/** Creates a 400 error for a body, query or header that violates the documentation, naming each field. */
export function malformedRequest(...errors: ProblemEntry[]): ProblemError {
  const reported = errors.slice(0, MOST_ENTRIES);
  return new ProblemError(
    400,
    reported.map(({ path, detail }) => (path === '' ? detail : `${path}: ${detail}`)).join('; '),
    reported,
  );
}

/** Creates a Problem without a type of its own (`about:blank`, RFC 9457 section 4.2.1). */
export function createProblem(
  status: number,
  detail: string,
  errors: readonly ProblemEntry[] = [],
  reason = reasonOf(status),
): Problem {
  const title = STATUS_CODES[status] ?? 'Error';
  return { type: 'about:blank', title, status, detail, reason, ...(errors.length > 0 && { errors: [...errors] }) };
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'MALFORMED',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
  410: 'GONE',
  412: 'PRECONDITION_FAILED',
  413: 'TOO_LARGE',
  414: 'ADDRESS_TOO_LONG',
  415: 'CONTENT_TYPE_NOT_SUPPORTED',
  421: 'HOST_NOT_SERVED',
  422: 'INVALID',
  429: 'RATE_LIMITED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** Returns the default reason of an HTTP status. */
function reasonOf(status: number): string {
  return REASONS[status] ?? (status < 500 ? 'REFUSED' : 'FAILED');
}
