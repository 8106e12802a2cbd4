import { type ServiceError, status } from '@grpc/grpc-js';
import type { IncomingHttpHeaders } from 'node:http';
import type { CallContext, ServedAgent } from '#libs/agents';
import { endsV03Stream, type FileEncoding, fileEncodingOf, isJsonObject, type JsonObject } from '#libs/protocol';
import type { GrpcDialect, GrpcDialectCall } from '../../grpc/grpc-dialect.js';
import { grpcError } from '../../grpc/grpc-status.js';
import { activatedExtensions } from '../../http/call-context.js';
import { OPERATIONS } from '../../operations.js';
import type { RequestHandler } from '../../request-handler.js';
import { inLegacyWords, legacyError } from '../legacy-call.js';
import {
  decodeFiles,
  encodeFiles,
  type LegacyGrpcMethod,
  readLegacyRequest,
  writeLegacyResponse,
} from './legacy-definition.js';

/** Reasons of errors that have the gRPC status UNIMPLEMENTED in 0.3, as servers of its SDKs send it, but not in 1.0. */
const UNIMPLEMENTED = new Set(['PUSH_NOTIFICATION_NOT_SUPPORTED', 'UNSUPPORTED_OPERATION']);

/** Returns the dialect of a method of A2A 0.3. Its calls have no version, and no tenant. */
export function legacyDialect(method: LegacyGrpcMethod): GrpcDialect<Buffer> {
  const { operation, run, words, read, write } = method;
  return {
    operation,
    ...(run && { run: (handler: RequestHandler, agent: ServedAgent, call: CallContext) => run(handler, agent, call) }),
    beginCall: (headers): GrpcDialectCall<Buffer> => {
      const files = fileEncodingOf(headers['user-agent']);
      return {
        readParams: (bytes, mostMembers) => {
          const params = decodeFiles(read(readLegacyRequest(method, bytes, mostMembers)), files);
          return isJsonObject(params) ? params : {};
        },
        context: legacyContext(headers),
        writeResult: (result) => encodeResult(result as object, files),
        isLast: endsV03Stream,
      };
    },
    toError: (error) => {
      const shown = inLegacyWords(legacyError(error, operation === OPERATIONS.GetExtendedAgentCard), words);
      const failure: Partial<ServiceError> = grpcError(shown);
      return UNIMPLEMENTED.has(shown.reason) ? { ...failure, code: status.UNIMPLEMENTED } : failure;
    },
  };

  function encodeResult(result: object, files: FileEncoding): Buffer {
    return writeLegacyResponse(method, write(encodeFiles(result, files) as never) as JsonObject);
  }
}

function legacyContext(headers: IncomingHttpHeaders): Partial<CallContext> {
  const header = headers['x-a2a-extensions'];
  return { protocolVersion: '0.3', ...(header !== undefined && { extensions: activatedExtensions(header) }) };
}
