import { constants, type OutgoingHttpHeaders } from 'node:http2';
import type { GrpcAccess } from './grpc-access.js';
import type { EarlyRefusal } from './grpc-connections.js';
import { grpcError } from './grpc-status.js';
import { isPublicMethod, tooManyPublicCalls } from './public-calls.js';

/**
 * Rejects excess calls of the health service from one address with an answer built once. The objects of grpc-js and the
 * auth guard cost ten times as much, and such a flood needs no credentials.
 */
export function refusePublicFlood(access: Pick<GrpcAccess, 'isPublicFull'>): EarlyRefusal {
  const answer = refusalHeaders();
  return (stream, headers, connection) => {
    const path = headers[':path'] as string | undefined;
    if (path === undefined || !isPublicMethod(path) || !access.isPublicFull(connection.address, path)) return false;
    stream.on('error', ignoreError);
    stream.respond(answer, { endStream: true });
    // The rest of the request is not read (RFC 9113, section 8.1).
    stream.close(constants.NGHTTP2_NO_ERROR);
    connection.countRefusal();
    return true;
  };
}

/** Returns the headers that form the whole answer ("Trailers-Only"). */
function refusalHeaders(): OutgoingHttpHeaders {
  const { code, details, metadata } = grpcError(tooManyPublicCalls());
  return {
    ':status': 200,
    'content-type': 'application/grpc+proto',
    'grpc-status': code,
    'grpc-message': encodeURI(details ?? ''),
    ...metadata?.toHttp2Headers(),
  };
}

function ignoreError(): void {}
