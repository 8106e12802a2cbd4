import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import { retryAfter } from '#libs/access';
import { isDatabaseAway, problem, type Problem, ProblemError } from '#libs/platform';
import { A2AError } from '#libs/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Answers every error of `/api` as `application/problem+json`, also where no controller was found or the body could not
 * be read. A database that is out of reach is 503. What the house did not write for callers is told as `Internal error` and logged with its cause. Elsewhere
 * the HTTP errors of Nest, such as those of health checks, keep the bodies that they bring.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger(ProblemFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const path = request.url.split('?', 1)[0] ?? '';
    const told = problemOf(error);
    if (told.status === 503) void reply.header('retry-after', retryAfter(error) ?? UNAVAILABLE_SECONDS);
    if (told.status === 503 && isDatabaseAway(error))
      this.logger.warn({ err: error, method: request.method, path }, told.detail);
    if (told.status === 500) this.logger.error({ err: error, method: request.method, path }, told.detail);
    if (reply.sent || reply.raw.headersSent) return void reply.raw.end();
    if (!API_PATH.test(path) && error instanceof HttpException) return sendAsItIs(error, reply);
    const body = JSON.stringify({ ...told, instance: path } satisfies Problem);
    void reply.status(told.status).header('content-type', 'application/problem+json').send(body);
  }
}

function sendAsItIs(error: HttpException, reply: FastifyReply): void {
  const [statusCode, said] = [error.getStatus(), error.getResponse()];
  void reply.status(statusCode).send(typeof said === 'string' ? { statusCode, message: said } : said);
}

/** What a caller is told of an error. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return problem(error.status, error.message, error.errors);
  if (error instanceof A2AError && error.status !== 500) return problemOfA2A(error);
  const known = statusOf(error);
  const status = known === 500 && isDatabaseAway(error) ? 503 : known;
  const detail = TOLD[status] ?? (error instanceof HttpException && status < 500 ? error.message : undefined);
  return detail === undefined ? problem(500, 'Internal error') : problem(status, detail);
}

const UNAVAILABLE_SECONDS = '1';

const API_PATH = /^\/api(\/|$)/;

const TOLD: Readonly<Record<number, string>> = {
  400: 'The request is malformed: its body is not valid JSON, or its address is not valid',
  404: 'There is nothing at this address',
  405: 'The method is not allowed at this address',
  413: 'The body is larger than this service accepts',
  414: 'A part of the address is too long',
  415: 'The body must be application/json',
  503: 'The service is not available at the moment',
};

function problemOfA2A(error: A2AError): Problem {
  const status = error.reason === 'TASK_NOT_CANCELABLE' ? 409 : error.status;
  const errors = error.violations.map((it) => ({ path: it.field, detail: it.description }));
  return problem(status, error.message, errors);
}

/** The status of errors that Nest and Fastify throw; 500 for all others. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  if (!(error instanceof Error) || !('code' in error)) return 500;
  // The caller left before it had all of a file.
  if (error.code === 'ERR_STREAM_PREMATURE_CLOSE') return 400;
  if (!('statusCode' in error)) return 500;
  // ECONNRESET with a status: the caller broke off in the middle of its body.
  const fromFastify = typeof error.code === 'string' && /^(FST_ERR|ECONNRESET$)/.test(error.code);
  return fromFastify && typeof error.statusCode === 'number' ? error.statusCode : 500;
}
