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
 * Lets no call in whose caller is not known, may not call agents or is over a limit. It asks when the metadata is there:
 * of the message of a call that is refused nothing is read. A call counts until it is answered, or gone. Messages that
 * are compressed are refused, as bodies are over HTTP: a little of them can become any amount.
 */
export function grpcAuthGuard(access: GrpcAccess, pace: ReaderPace, connections: GrpcConnections): ServerInterceptor {
  return ({ path }, call) => {
    const answer = GrpcAnswer.of(call, pace);
    const connection = connections.of(call.getPeer());
    const visit = isPublicMethod(path)
      ? new PublicVisit(access, connection, path)
      : new CallerVisit(access, connection, answer.whenClosed.bind(answer));
    return guarded(call, visit, answer, connection);
  };
}

function guarded(
  call: ServerInterceptingCallInterface,
  visit: GrpcVisit,
  answer: GrpcAnswer,
  connection: GrpcConnection,
): ServerInterceptingCall {
  const refuse = (failure: Failure): void => {
    visit.end();
    answer.end();
    call.sendStatus(failure);
    answer.stopReading();
    connection.refused();
  };
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata: (metadata, pass) => {
          visit.begin(metadata).then(
            () => {
              if (isCompressed(call)) return refuse(COMPRESSED());
              countMessage(call, visit, (error) => refuse(failureOf(error)));
              pass(metadata);
            },
            (error: unknown) => refuse(failureOf(error)),
          );
        },
        onReceiveHalfClose: (pass) => {
          visit.complete();
          pass();
        },
        onCancel: () => visit.end(),
      }),
    sendMetadata: (metadata, next) => {
      metadata.set(ACCEPT_ENCODING, IDENTITY);
      next(metadata);
    },
    sendStatus: (sent, next) => {
      visit.end();
      answer.end();
      next(sent);
    },
  });
}

type Failure = Parameters<ServerInterceptingCallInterface['sendStatus']>[0];

function failureOf(error: unknown): Failure {
  const { code, details, metadata } = grpcError(error);
  return { code: code ?? status.UNKNOWN, details: details ?? '', metadata };
}

/** Returns the failure that tells a caller that compresses which encodings are accepted (gRPC, "Compression"). */
function COMPRESSED(): Failure {
  const metadata = new Metadata();
  metadata.set(ACCEPT_ENCODING, IDENTITY);
  return { code: status.UNIMPLEMENTED, details: 'Messages must not be compressed (grpc-encoding)', metadata };
}

/**
 * True if the messages of a call may be compressed. One that is marked so without an announced encoding is not
 * decompressed. grpc-js takes the announcement out of the metadata.
 */
function isCompressed(call: ServerInterceptingCallInterface): boolean {
  const { incomingEncoding } = call as { incomingEncoding?: string };
  return incomingEncoding !== IDENTITY;
}

/** Counts what comes as it comes, not when the message is there; and it has to come. */
function countMessage(call: ServerInterceptingCallInterface, visit: GrpcVisit, refuse: (error: unknown) => void): void {
  const stream = streamOf(call);
  visit.expectMessage(() =>
    refuse(new A2AError('INVALID_REQUEST', { message: 'The message did not come in time', status: 408 })),
  );
  const count = (chunk: Buffer): void => {
    try {
      visit.received(chunk.length);
    } catch (error) {
      stream.off('data', count);
      refuse(error);
    }
  };
  stream.on('data', count);
}
