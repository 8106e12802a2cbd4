import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { type FaultKind, PublicFault, UnavailableFault } from '#libs/faults';
import type { OutboundHttp } from '#libs/http-client';
import { isDatabaseAway } from '#libs/postgres';
import { A2AError, TaskChangedHands } from '#libs/protocol';
import { inboundTrace } from '#libs/service';

/** Single fault of a request, such as an invalid field. */
export class ProblemEntry {
  @ApiProperty({ description: "Path of the invalid field; `''` for the whole body.", example: 'nodes[0].id' })
  path!: string;

  @ApiProperty({ example: 'must be a string' })
  detail!: string;

  @ApiPropertyOptional({ description: 'Code of the fault, for programs.', example: 'UNKNOWN_REFERENCE' })
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
    description: 'Code of the problem, for programs: `NOT_FOUND`, `IDEMPOTENCY_CONFLICT`, …',
    example: 'MALFORMED',
  })
  reason!: string;

  @ApiPropertyOptional({ description: 'Path of the request.', example: '/api/workflows' })
  instance?: string;

  @ApiPropertyOptional({
    description: 'Id of the request; log lines about the problem contain it.',
    example: '5d1a4c1e-7a53-4f0c-9a57-2f8f0f6f3b52',
  })
  requestId?: string;

  @ApiPropertyOptional({
    description: 'Id of the trace, if the request has a `traceparent`.',
    example: '4bf92f3577b34da6a3ce929d0e0e4736',
  })
  trace_id?: string;

  @ApiPropertyOptional({ type: [ProblemEntry], description: 'One entry for each fault.' })
  errors?: ProblemEntry[];
}

/** Maximum number of entries of a problem. */
export const MOST_ENTRIES = 100;

/** Error of `/api` that its caller may see. The message and the first hundred entries are sent unchanged. */
export class ProblemError extends PublicFault {
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

  override get kind(): FaultKind {
    return KINDS[this.status] ?? 'client-error';
  }
}

const KINDS: Readonly<Record<number, FaultKind>> = { 429: 'rate-limited', 500: 'internal', 503: 'unavailable' };

/** Creates a 400 error for a body, query or header that violates the documentation, naming each field. */
export function malformedRequest(...errors: ProblemEntry[]): ProblemError {
  const reported = errors.slice(0, MOST_ENTRIES);
  return new ProblemError(
    400,
    reported.map(({ path, detail }) => (path === '' ? detail : `${path}: ${detail}`)).join('; '),
    reported,
  );
}

/**
 * Rejects a URL that this service may not call, as far as that is known without a DNS lookup.
 * @param path member of the body that has the URL
 * @throws ProblemError 400
 */
export function assertCallable(http: Pick<OutboundHttp, 'mayPermit'>, url: string, path: string): void {
  if (!http.mayPermit(new URL(url)))
    throw malformedRequest({ path, detail: 'must be an address that this service may call' });
}

/** Maximum number of names that the error for a resource in use lists. */
const MOST_NAMED = 20;

/**
 * Creates the 409 error for deleting a resource that others refer to, with an entry for each of them.
 * @param kind kind of the resource, such as `model`
 * @param namers kind of the resources that refer to it: `path` in the management API, and `plural` noun
 * @param naming names of the resources that refer to it
 */
export function stillNamed(
  { kind, name }: { kind: string; name: string },
  { path, plural }: { path: string; plural: string },
  naming: readonly string[],
): ProblemError {
  const named = naming.slice(0, MOST_NAMED);
  const others = naming.length > MOST_NAMED ? ` and ${naming.length - MOST_NAMED} more` : '';
  const entries = named.map((it) => ({ path: `${path}/${it}`, detail: `names the ${kind}` }));
  return new ProblemError(409, `${plural} name the ${kind} "${name}": ${named.join(', ')}${others}`, entries);
}

/** Creates a Problem without a specific type (`about:blank`, RFC 9457 section 4.2.1). */
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

/** Returns the `reason` of a problem that names none, by its HTTP status. */
function reasonOf(status: number): string {
  return REASONS[status] ?? (status < 500 ? 'REFUSED' : 'FAILED');
}

const BEGUN = new WeakMap<Pick<IncomingMessage, 'headers'>, string>();

/**
 * Returns the trace id of a request with a `traceparent` header: the caller's trace id, or if the header is invalid a
 * new id that stays the same for the request. Without the header the result is an empty object, so that equal requests
 * get equal answers.
 */
export function requestTrace(request: Pick<IncomingMessage, 'headers'>): { trace_id?: string } {
  if (request.headers['traceparent'] === undefined) return {};
  const traceId = inboundTrace(request.headers)?.traceId ?? BEGUN.get(request) ?? randomBytes(16).toString('hex');
  BEGUN.set(request, traceId);
  return { trace_id: traceId };
}

/**
 * Answers every error of `/api` as `application/problem+json`, including unknown routes and unreadable bodies.
 *
 * - Errors that are not written for callers become `Internal error`. They are logged with their cause and with the
 *   request id that the answer has.
 * - An unreachable database is 503.
 * - Outside `/api`, HTTP errors of Nest, such as those of health checks, keep their own bodies.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);

  /** @param unprocessable reasons (`detailReason`) of A2A errors that this filter reports as 422 */
  constructor(private readonly unprocessable: ReadonlySet<string> = NONE) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const path = request.url.split('?', 1)[0] ?? '';
    const reported = toProblem(error, this.unprocessable);
    const requestId = String(request.id);
    const trace = requestTrace(request.raw);
    const at = { requestId, ...trace, method: request.method, path };
    if (reported.status === 500) this.logger.error({ err: error, ...at }, reported.detail);
    else if (WARNED.has(reported.reason)) this.logger.warn({ err: error, ...at }, reported.detail);
    if (reply.sent || reply.raw.headersSent) return void reply.raw.end();
    if (!API_PATH.test(path) && error instanceof HttpException) return sendAsItIs(error, reply);
    if (error instanceof A2AError) setRetryAfter(error, reply);
    const body = JSON.stringify({ ...reported, instance: path, requestId, ...trace } satisfies Problem);
    void reply.status(reported.status).header('content-type', 'application/problem+json').send(body);
  }
}

/** Sets `Retry-After` for a refusal that says when to try again, unless the route has set it. */
function setRetryAfter({ metadata }: A2AError, reply: FastifyReply): void {
  const seconds = metadata['retryAfterSeconds'];
  if (seconds !== undefined && !reply.hasHeader('retry-after')) void reply.header('retry-after', seconds);
}

function sendAsItIs(error: HttpException, reply: FastifyReply): void {
  const [statusCode, said] = [error.getStatus(), error.getResponse()];
  void reply.status(statusCode).send(typeof said === 'string' ? { statusCode, message: said } : said);
}

/** Converts an error to the Problem that a caller may see. */
export function toProblem(error: unknown, unprocessable = NONE): Problem {
  if (error instanceof ProblemError) return createProblem(error.status, error.message, error.errors, error.reason);
  if (error instanceof A2AError && error.status !== 500) return problemOfA2A(error, unprocessable);
  if (error instanceof UnavailableFault) return createProblem(503, error.publicMessage, [], error.reason);
  if (isDatabaseAway(error instanceof A2AError ? error.cause : error))
    return createProblem(503, 'The database is out of reach at the moment; try again later', [], DATABASE_UNAVAILABLE);
  const status = statusOf(error);
  const detail = REPORTED[status] ?? (error instanceof HttpException && status < 500 ? error.message : undefined);
  return detail === undefined ? createProblem(500, 'Internal error') : createProblem(status, detail);
}

const NONE: ReadonlySet<string> = new Set();

const DATABASE_UNAVAILABLE = 'DATABASE_UNAVAILABLE';

const WARNED: ReadonlySet<string | undefined> = new Set([DATABASE_UNAVAILABLE, TaskChangedHands.REASON]);

const API_PATH = /^\/api(\/|$)/;

const REPORTED: Readonly<Record<number, string>> = {
  400: 'The request is malformed: its body is not valid JSON, or its address is not valid',
  404: 'There is nothing at this address',
  405: 'The method is not allowed at this address',
  413: 'The body is larger than this service accepts',
  414: 'A part of the address is too long',
  415: 'The body must be application/json',
  503: 'The service is not available at the moment',
};

/** Reasons of A2A that say no more than the status. */
const GENERAL: ReadonlySet<string> = new Set(['INTERNAL', 'INVALID_PARAMS']);

function problemOfA2A(error: A2AError, unprocessable: ReadonlySet<string>): Problem {
  const status = statusOfA2A(error, unprocessable);
  // The management API has a reason of its own for each status: a wrong member is `MALFORMED` in every operation.
  const reason = error.detailReason ?? (GENERAL.has(error.reason) ? undefined : error.reason);
  const errors = error.violations.map(({ field, description, reason: code }) => ({
    path: field,
    detail: description,
    ...(code !== undefined && { code }),
  }));
  return createProblem(status, error.message, errors, reason);
}

/**
 * Returns the HTTP status of an A2A error under `/api`: 409 for a Task that cannot be canceled, 422 for the reasons
 * in `unprocessable`, else the status that A2A defines.
 */
function statusOfA2A({ reason, detailReason, status }: A2AError, unprocessable: ReadonlySet<string>): number {
  if (reason === 'TASK_NOT_CANCELABLE') return 409;
  return unprocessable.has(detailReason ?? '') ? 422 : status;
}

/** Returns the status of an error thrown by Nest or Fastify; 500 for all others. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (!(error instanceof Error) || !('code' in error)) return 500;
  // The caller left before it had received all of a file.
  if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') return 400;
  if (!('statusCode' in error)) return 500;
  // ECONNRESET with a status: the caller disconnected in the middle of its body.
  const fromFastify = typeof error.code === 'string' && /^(FST_ERR|ECONNRESET$)/.test(error.code);
  return fromFastify && typeof error.statusCode === 'number' ? error.statusCode : 500;
}
