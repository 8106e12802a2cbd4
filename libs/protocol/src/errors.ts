import { PublicFault } from '#libs/faults';
import type { JsonObject } from './json.js';

/** Errors of the protocol, as each binding reports them (A2A 1.0, sections 5.4, 9.5 and 11.6). */
export const A2A_ERRORS = {
  TASK_NOT_FOUND: { code: -32001, status: 404, grpc: 'NOT_FOUND', message: 'Task not found' },
  TASK_NOT_CANCELABLE: { code: -32002, status: 400, grpc: 'FAILED_PRECONDITION', message: 'Task cannot be canceled' },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    code: -32003,
    status: 400,
    grpc: 'FAILED_PRECONDITION',
    message: 'Push notifications are not supported by this agent',
  },
  UNSUPPORTED_OPERATION: {
    code: -32004,
    status: 400,
    grpc: 'FAILED_PRECONDITION',
    message: 'This operation is not supported',
  },
  CONTENT_TYPE_NOT_SUPPORTED: {
    code: -32005,
    status: 400,
    grpc: 'INVALID_ARGUMENT',
    message: 'Content type not supported',
  },
  INVALID_AGENT_RESPONSE: { code: -32006, status: 500, grpc: 'INTERNAL', message: 'Invalid agent response' },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    code: -32007,
    status: 400,
    grpc: 'FAILED_PRECONDITION',
    message: 'No extended agent card is configured',
  },
  EXTENSION_SUPPORT_REQUIRED: {
    code: -32008,
    status: 400,
    grpc: 'FAILED_PRECONDITION',
    message: 'A required extension was not declared by the client',
  },
  VERSION_NOT_SUPPORTED: {
    code: -32009,
    status: 400,
    grpc: 'FAILED_PRECONDITION',
    message: 'A2A protocol version not supported',
  },
  PARSE_ERROR: { code: -32700, status: 400, grpc: 'INVALID_ARGUMENT', message: 'Invalid JSON payload' },
  INVALID_REQUEST: {
    code: -32600,
    status: 400,
    grpc: 'INVALID_ARGUMENT',
    message: 'Request payload validation error',
  },
  METHOD_NOT_FOUND: { code: -32601, status: 404, grpc: 'UNIMPLEMENTED', message: 'Method not found' },
  INVALID_PARAMS: { code: -32602, status: 400, grpc: 'INVALID_ARGUMENT', message: 'Invalid parameters' },
  // The specification leaves these three to HTTP; their codes are outside JSON-RPC's reserved range.
  UNAUTHENTICATED: { code: -31401, status: 401, grpc: 'UNAUTHENTICATED', message: 'Valid credentials are required' },
  PERMISSION_DENIED: { code: -31403, status: 403, grpc: 'PERMISSION_DENIED', message: 'Permission denied' },
  RATE_LIMITED: { code: -31429, status: 429, grpc: 'RESOURCE_EXHAUSTED', message: 'Too many requests' },
  INTERNAL: { code: -32603, status: 500, grpc: 'INTERNAL', message: 'Internal error' },
} as const satisfies Record<string, { code: number; status: number; grpc: string; message: string }>;

export type A2AErrorReason = keyof typeof A2A_ERRORS;

/** Violation of one field of a request, as in `google.rpc.BadRequest`. */
export interface FieldViolation {
  /** Path of the field, for example `message.parts[0].text`. */
  field: string;
  description: string;
  /** Kind of the violation, in capitals; absent if it has no special kind. */
  reason?: string;
}

export interface A2AErrorOptions {
  message?: string;
  violations?: FieldViolation[];
  /** Values of `google.rpc.ErrorInfo.metadata`: strings that a caller may see; absent: the error has no metadata. */
  metadata?: Record<string, string>;
  /**
   * Reason that is more precise than the A2AErrorReason; callers get it under the domain `parley`. Defaults to
   * UNAVAILABLE for status 503.
   */
  detailReason?: string;
  /** HTTP status, if it differs from A2A_ERRORS for a transport reason, such as 413. */
  status?: number;
  cause?: unknown;
}

/** Domain of error reasons that the A2A specification does not define. */
const PARLEY_DOMAIN = 'parley';
const A2A_DOMAIN = 'a2a-protocol.org';

/** Error that a caller of the A2A surface may see. Its message is safe to show; `cause` is only logged. */
export class A2AError extends PublicFault {
  override readonly name = 'A2AError';
  readonly code: number;
  readonly status: number;
  readonly grpc: string;
  readonly violations: readonly FieldViolation[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly detailReason: string | undefined;

  constructor(
    readonly reason: A2AErrorReason,
    options: A2AErrorOptions = {},
  ) {
    const row = A2A_ERRORS[reason];
    super(options.message ?? row.message, { cause: options.cause });
    this.code = row.code;
    this.status = options.status ?? row.status;
    this.grpc = this.status === 503 ? 'UNAVAILABLE' : row.grpc;
    this.violations = options.violations ?? [];
    this.metadata = options.metadata ?? {};
    // Callers must be able to tell a temporary error from a permanent one.
    this.detailReason = options.detailReason ?? (this.status === 503 ? 'UNAVAILABLE' : undefined);
  }

  override get kind(): 'rpc-error' {
    return 'rpc-error';
  }

  override get retryable(): boolean {
    return this.status === 503 || this.status === 429;
  }

  /**
   * Returns the error's details as ProtoJSON `Any` objects: ErrorInfo, then BadRequest if there are field violations.
   */
  toDetails(): JsonObject[] {
    const info: JsonObject = {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: this.detailReason ?? this.reason,
      domain: this.detailReason === undefined ? A2A_DOMAIN : PARLEY_DOMAIN,
      metadata: { ...this.metadata },
    };
    if (this.violations.length === 0) return [info];
    const fieldViolations = this.violations.map(({ field, description, reason }) => ({
      field,
      description,
      ...(reason !== undefined && { reason }),
    }));
    return [info, { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }];
  }
}

/** Creates an INVALID_PARAMS error that names each invalid field. */
export function invalidParams(...violations: FieldViolation[]): A2AError {
  return new A2AError('INVALID_PARAMS', {
    message: violations.map((it) => `${it.field}: ${it.description}`).join('; ') || undefined,
    violations,
  });
}
