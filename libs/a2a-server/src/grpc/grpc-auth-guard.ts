import type { IncomingHttpHeaders } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  type Metadata,
  type ServerInterceptor,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  status,
} from '@grpc/grpc-js';
import { type ArrivingBody, type Caller, inFlightError } from '#libs/access';
import { A2AError } from '#libs/protocol';
import type { GrpcAccess } from './grpc-access.js';
import { headersOf } from './grpc-call.js';
import { grpcError } from './grpc-status.js';

/** Who was let in, and what he says of himself. */
export interface Admission {
  caller: Caller;
  headers: IncomingHttpHeaders;
}

/** On the metadata itself, which goes on to the handler. */
const ADMISSION = Symbol('admission');

interface AdmittedMetadata extends Metadata {
  [ADMISSION]?: Admission;
}

/** Whoever watches the service has no credentials. */
const PUBLIC = '/grpc.health.v1.Health/';

/**
 * Lets no call in whose caller is not known, may not call agents or is over a limit. It asks when the metadata is there:
 * of the message of a call that is refused nothing is read. A call counts until it is answered, or gone.
 */
export function grpcAuthGuard(access: GrpcAccess): ServerInterceptor {
  return ({ path }, call) => (path.startsWith(PUBLIC) ? new ServerInterceptingCall(call) : guarded(access, call));
}

/** Whom the auth guard let in. */
export function admissionOf(metadata: Metadata): Admission {
  const admission = (metadata as AdmittedMetadata)[ADMISSION];
  if (!admission) throw new Error('A call came past the auth guard');
  return admission;
}

function guarded(access: GrpcAccess, call: ServerInterceptingCallInterface): ServerInterceptingCall {
  const visit = new Visit(access, call.getPeer());
  return new ServerInterceptingCall(call, {
    start: (next) =>
      next({
        onReceiveMetadata: (metadata, pass) => {
          visit.begin(metadata).then(
            () => {
              countMessage(call, visit);
              pass(metadata);
            },
            (error: unknown) => {
              visit.end();
              refuse(call, error);
            },
          );
        },
        onReceiveHalfClose: (pass) => {
          visit.complete();
          pass();
        },
        onCancel: () => visit.end(),
      }),
    sendStatus: (answer, next) => {
      visit.end();
      next(answer);
    },
  });
}

function refuse(call: ServerInterceptingCallInterface, error: unknown): void {
  const { code, details, metadata } = grpcError(error);
  call.sendStatus({ code: code ?? status.UNKNOWN, details: details ?? '', metadata });
  closeStream(call);
}

/**
 * Tells a caller that has its answer to stop sending (RFC 9113, section 8.1): else whatever follows would be taken, and the
 * stream stay open, for as long as it likes. grpc-js has no way to say so, and keeps the stream to itself.
 */
function closeStream(call: ServerInterceptingCallInterface): void {
  const { stream } = call as { stream?: Pick<ServerHttp2Stream, 'close'> };
  stream?.close(constants.NGHTTP2_NO_ERROR);
}

/** What comes is counted as it comes, not when the message is there; and it has to come. */
function countMessage(call: ServerInterceptingCallInterface, visit: Visit): void {
  const { stream } = call as { stream?: Pick<ServerHttp2Stream, 'on' | 'off' | 'close'> };
  visit.expectMessage(() =>
    refuse(call, new A2AError('INVALID_REQUEST', { message: 'The message did not come in time', status: 408 })),
  );
  const count = (chunk: Buffer): void => {
    try {
      visit.received(chunk.length);
    } catch (error) {
      stream?.off('data', count);
      visit.end();
      refuse(call, error);
    }
  };
  stream?.on('data', count);
}

/** One call, from its metadata to its end. */
class Visit {
  private leave: (() => void) | undefined;
  private message: ArrivingBody | undefined;
  private late: NodeJS.Timeout | undefined;
  private over = false;

  constructor(
    private readonly access: GrpcAccess,
    private readonly peer: string,
  ) {}

  /** Rejects with an A2AError where the call is not let in. */
  async begin(metadata: AdmittedMetadata): Promise<void> {
    const headers = headersOf(metadata);
    const caller = await this.access.caller(headers);
    if (this.over) return;
    this.leave = this.access.enter(caller, this.peer);
    this.message = this.access.message(caller);
    metadata[ADMISSION] = { caller, headers };
  }

  /** @throws A2AError where too much is in flight */
  received(bytes: number): void {
    const refusal = this.message?.take(bytes);
    if (refusal) throw inFlightError(refusal);
  }

  /** @param late called where the message has not come within REQUEST_TIMEOUT */
  expectMessage(late: () => void): void {
    if (this.over) return;
    this.late = setTimeout(() => {
      this.end();
      late();
    }, this.access.messageTimeoutMs).unref();
  }

  /** The message is there. */
  complete(): void {
    clearTimeout(this.late);
    this.message?.complete();
  }

  /** Again is the same. */
  end(): void {
    this.over = true;
    clearTimeout(this.late);
    this.leave?.();
    this.leave = undefined;
    this.message?.release();
    this.message = undefined;
  }
}
