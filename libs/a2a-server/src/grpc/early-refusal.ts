import { constants, type OutgoingHttpHeaders } from 'node:http2';
import type { GrpcAccess } from './grpc-access.js';
import type { EarlyRefusal } from './grpc-connections.js';
import { grpcError } from './grpc-status.js';
import { isPublicMethod, tooManyPublicCalls } from './public-calls.js';

/**
 * Refuses calls of the health service that are too many of their address with one answer that is made once: what grpc-js
 * and the auth guard make for a call costs ten times as much, and a flood of such calls needs no credentials.
 */
export function refusePublicFlood(access: Pick<GrpcAccess, 'isPublicFull'>): EarlyRefusal {
  const answer = refusalHeaders();
  return (stream, headers, connection) => {
    const path = headers[':path'] as string | undefined;
    if (path === undefined || !isPublicMethod(path) || !access.isPublicFull(connection.address, path)) return false;
    stream.on('error', ignore);
    stream.respond(answer, { endStream: true });
    // What follows of the request is not read (RFC 9113, section 8.1).
    stream.close(constants.NGHTTP2_NO_ERROR);
    connection.refused();
    return true;
  };
}

/** Returns the only headers of the answer, which say all of it ("Trailers-Only"). */
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

function ignore(): void {}
