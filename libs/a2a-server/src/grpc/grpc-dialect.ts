import type { ServiceError } from '@grpc/grpc-js';
import type { IncomingHttpHeaders } from 'node:http';
import type { CallContext, ServedAgent } from '#libs/agents';
import type { JsonObject, StreamResponse } from '#libs/protocol';
import { requireSupportedVersion } from '../http/call-context.js';
import type { A2aOperation } from '../operations.js';
import type { RequestHandler } from '../request-handler.js';
import type { GrpcRequest } from './grpc-definition.js';
import { grpcError } from './grpc-status.js';

/**
 * Form of one gRPC method in a version of A2A. The binding uses it to read requests, and to write results and errors.
 */
export interface GrpcDialect<Request = unknown> {
  readonly operation: A2aOperation;
  /** Function that is run instead of `operation`, for a method with no equal in 1.0; absent: `operation` is run. */
  readonly run?: (handler: RequestHandler, agent: ServedAgent, call: CallContext) => Promise<unknown>;
  /** Begins a call. @throws A2AError if the version that its metadata names is not served */
  beginCall(headers: IncomingHttpHeaders): GrpcDialectCall<Request>;
  /** Converts an error to the gRPC error that callers see. */
  toError(error: unknown): Partial<ServiceError>;
}

/**
 * Functions that read and write one call in the form of its GrpcDialect, and the members of the call's context that
 * this form sets.
 */
export interface GrpcDialectCall<Request> {
  /** Decodes the request to the parameters of 1.0. @throws A2AError */
  readParams(request: Request, mostMembers: number): JsonObject;
  /** Members of the call's context that the dialect sets. */
  readonly context: Partial<CallContext>;
  /** Converts a result, or an item of a stream, to the value that the method's definition serializes. */
  writeResult(result: unknown): unknown;
  /** True if an item is the last of its stream; absent: the operation ends the stream. */
  readonly isLast?: (response: StreamResponse) => boolean;
}

/** Returns the dialect of an operation of A2A 1.0. */
export function currentDialect(operation: A2aOperation): GrpcDialect<GrpcRequest> {
  return {
    operation,
    beginCall: (headers) => {
      requireSupportedVersion(String(headers['a2a-version'] ?? '').trim());
      return {
        readParams: (request, mostMembers) => request.readParams(mostMembers),
        context: {},
        writeResult: (result) => result,
      };
    },
    toError: grpcError,
  };
}
