import { GrpcHttpError, GrpcStatusError, requestedPause } from '#libs/http-client';
import { A2A_ERRORS, readRpcStatus, type RpcStatus } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';
import { codeOfReason, type RefusedCall, rpcFailure, statusFailure, toAgentCallError } from './call-failure.js';

/** Status codes of gRPC by name (gRPC, "Status codes"). */
const STATUS = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

const NAMES = new Map<number, string>(Object.entries(STATUS).map(([name, status]) => [status, name]));

/**
 * HTTP status with the same meaning, for each gRPC status that is no error of A2A. UNKNOWN is left out: Python servers
 * send it for an exception of an agent that has begun the work. As HTTP 500 it would make the client send the Message
 * again.
 */
const HTTP_STATUSES = new Map<number, number>([
  [STATUS.CANCELLED, 500],
  [STATUS.UNAVAILABLE, 503],
  [STATUS.ALREADY_EXISTS, 409],
  [STATUS.ABORTED, 409],
  [STATUS.PERMISSION_DENIED, 403],
  [STATUS.UNAUTHENTICATED, 401],
]);

/** Code of the A2A error by gRPC status, for agents that send no reason. */
const A2A_CODES = new Map<number, number>([
  [STATUS.INVALID_ARGUMENT, A2A_ERRORS.INVALID_PARAMS.code],
  [STATUS.OUT_OF_RANGE, A2A_ERRORS.INVALID_PARAMS.code],
  [STATUS.NOT_FOUND, A2A_ERRORS.TASK_NOT_FOUND.code],
  [STATUS.FAILED_PRECONDITION, A2A_ERRORS.UNSUPPORTED_OPERATION.code],
  [STATUS.UNIMPLEMENTED, A2A_ERRORS.METHOD_NOT_FOUND.code],
  [STATUS.INTERNAL, A2A_ERRORS.INTERNAL.code],
]);

/** Pattern of error texts of gRPC implementations for a message that is too large for its receiver. */
const TOO_LARGE = /larger than max|exceeds maximum|too large|size limit/i;

/**
 * Converts an error of a gRPC call to an AgentCallError, of the kind that the same error has over HTTP.
 *
 * - A reason of A2A in `google.rpc.ErrorInfo` decides first, then the status.
 * - UNAVAILABLE is HTTP 503, CANCELLED is HTTP 500, and DEADLINE_EXCEEDED is a time-out.
 * - UNKNOWN and every other status without a meaning in HTTP or A2A is an internal error of A2A.
 * - RESOURCE_EXHAUSTED is HTTP 429, unless its text says that the message is too large.
 */
export function grpcFailure(error: unknown, call: RefusedCall): AgentCallError {
  if (error instanceof GrpcHttpError) return statusFailure(error.status, '', { ...call, retryAfter: error.retryAfter });
  if (error instanceof GrpcStatusError) return statusErrorFailure(error, call);
  return toAgentCallError(error);
}

function statusErrorFailure(error: GrpcStatusError, call: RefusedCall): AgentCallError {
  const details = readRpcStatus(error.details);
  const { status, text } = error;
  const answered = text === '' ? 'no message' : text;
  const code = details.reasons.map(({ reason }) => codeOfReason(reason)).find((it) => it !== undefined);
  if (code !== undefined && !isOfHttp(code)) return rpcFailure(code, answered);
  if (status === STATUS.DEADLINE_EXCEEDED)
    return new AgentCallError('timeout', `timeout: the agent has not answered in time: ${answered}`, { cause: error });
  if (status === STATUS.RESOURCE_EXHAUSTED) return exhaustedFailure(answered, error, details, call);
  const http = HTTP_STATUSES.get(status);
  if (http !== undefined) return httpFailure(http, error, details);
  return rpcFailure(A2A_CODES.get(status) ?? A2A_ERRORS.INTERNAL.code, answered);
}

/** True for the codes of errors that the specification leaves to HTTP: -31401, -31403 and -31429 (A2A_ERRORS). */
function isOfHttp(code: number): boolean {
  return code > -32_000;
}

function exhaustedFailure(
  text: string,
  error: GrpcStatusError,
  details: RpcStatus,
  { sentBytes }: RefusedCall,
): AgentCallError {
  if (details.retryAfter === undefined && TOO_LARGE.test(text)) {
    const size = sentBytes === undefined ? '' : ` of ${sentBytes} bytes`;
    return new AgentCallError(
      'client-error',
      `gRPC RESOURCE_EXHAUSTED: the Message${size} is larger than the agent takes: ${text}`,
      {
        code: 413,
        status: 413,
      },
    );
  }
  return new AgentCallError('client-error', `gRPC RESOURCE_EXHAUSTED: ${text}`, {
    code: 429,
    status: 429,
    retryAfter: pauseOf(error, details),
  });
}

function httpFailure(http: number, error: GrpcStatusError, details: RpcStatus): AgentCallError {
  const name = NAMES.get(error.status) ?? '';
  const text = `gRPC ${name}${error.text === '' ? '' : `: ${error.text}`}`;
  if (http === 401 || http === 403) {
    const reason = http === 401 ? 'the agent does not accept who calls' : 'the agent forbids the call';
    return new AgentCallError('unauthorized', `gRPC ${name}: ${reason}${error.text === '' ? '' : `: ${error.text}`}`, {
      code: http,
    });
  }
  const retryAfter = pauseOf(error, details);
  return new AgentCallError(http >= 500 ? 'server-error' : 'client-error', text, {
    code: http,
    status: http,
    retryAfter,
  });
}

/**
 * Returns the pause in milliseconds that the agent asks for, in RetryInfo or in `retry-after` of its metadata;
 * `undefined` if it asks for none.
 */
function pauseOf({ metadata }: GrpcStatusError, { retryAfter }: RpcStatus): number | undefined {
  const header = metadata['retry-after'];
  return retryAfter ?? requestedPause(Array.isArray(header) ? header[0] : header);
}
