import {
  Metadata,
  type ServerInterceptor,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  status,
} from '@grpc/grpc-js';
import type { ReaderPace } from '#libs/http';
import { A2AError } from '#libs/protocol';
import type { GrpcAccess } from './grpc-access.js';
import { GrpcAnswer, streamOf } from './grpc-answer.js';
import type { GrpcConnection, GrpcConnections } from './grpc-connections.js';
import { grpcError } from './grpc-status.js';
import { isPublicMethod } from './public-calls.js';
import { CallerVisit, type GrpcVisit, PublicVisit } from './grpc-visit.js';

const ACCEPT_ENCODING = 'grpc-accept-encoding';
const IDENTITY = 'identity';

/**
 * Rejects calls whose caller is unknown, may not call agents or is over a limit.
 *
 * - The check runs when the metadata has arrived; the message of a rejected call is not read.
 * - A call counts against limits until it is answered or gone.
 * - Compressed messages are rejected, like compressed bodies over HTTP: they can expand to any size.
 */
export function grpcAuthGuard(access: GrpcAccess, pace: ReaderPace, connections: GrpcConnections): ServerInterceptor {
  return ({ path }, call) => {
    const answer = GrpcAnswer.watchCall(call, pace);
    const connection = connections.connectionOf(call.getPeer());
    const visit = isPublicMethod(path)
      ? new PublicVisit(access, connection, path)
      : new CallerVisit(access, connection, answer.whenClosed.bind(answer));
    return guardCall(call, visit, answer, connection);
  };
}

function guardCall(
  call: ServerInterceptingCallInterface,
  visit: GrpcVisit,
  answer: GrpcAnswer,
  connection: GrpcConnection,
): ServerInterceptingCall {
  const refuseCall = (failure: GrpcFailure): void => {
    visit.endVisit();
    answer.markEnded();
    call.sendStatus(failure);
    answer.stopReading();
    connection.countRefusal();
  };
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata: (metadata, pass) => {
          visit.beginVisit(metadata).then(
            () => {
              if (isCompressed(call)) return refuseCall(compressedFailure());
              countMessage(call, visit, (error) => refuseCall(toGrpcFailure(error)));
              pass(metadata);
            },
            (error: unknown) => refuseCall(toGrpcFailure(error)),
          );
        },
        onReceiveHalfClose: (pass) => {
          visit.completeMessage();
          pass();
        },
        onCancel: () => visit.endVisit(),
      }),
    sendMetadata: (metadata, next) => {
      metadata.set(ACCEPT_ENCODING, IDENTITY);
      next(metadata);
    },
    sendStatus: (sent, next) => {
      visit.endVisit();
      answer.markEnded();
      next(sent);
    },
  });
}

type GrpcFailure = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

function toGrpcFailure(error: unknown): GrpcFailure {
  const { code, details, metadata } = grpcError(error);
  return { code: code ?? status.UNKNOWN, details: details ?? '', metadata };
}

/** Creates the failure for compressed messages, which names the accepted encodings (gRPC, "Compression"). */
function compressedFailure(): GrpcFailure {
  const metadata = new Metadata();
  metadata.set(ACCEPT_ENCODING, IDENTITY);
  return { code: status.UNIMPLEMENTED, details: 'Messages must not be compressed (grpc-encoding)', metadata };
}

/**
 * True if the messages of a call may be compressed. A compressed message without an announced encoding is not
 * decompressed. grpc-js removes the announcement from the metadata.
 */
function isCompressed(call: ServerInterceptingCallInterface): boolean {
  const { incomingEncoding } = call as { incomingEncoding?: string };
  return incomingEncoding !== IDENTITY;
}

/** Counts the bytes of a message as they arrive, and limits the time until it is complete. */
function countMessage(call: ServerInterceptingCallInterface, visit: GrpcVisit, refuse: (error: unknown) => void): void {
  const stream = streamOf(call);
  visit.expectMessage(() =>
    refuse(new A2AError('INVALID_REQUEST', { message: 'The message did not come in time', status: 408 })),
  );
  const countChunk = (chunk: Buffer): void => {
    try {
      visit.countReceived(chunk.length);
    } catch (error) {
      stream.off('data', countChunk);
      refuse(error);
    }
  };
  stream.on('data', countChunk);
}
