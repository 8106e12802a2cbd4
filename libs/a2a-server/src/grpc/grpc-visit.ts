import { Metadata } from '@grpc/grpc-js';
import type { IncomingHttpHeaders } from 'node:http';
import { type ArrivingBody, type Caller, inFlightError } from '#libs/access';
import type { CallContext, ServedAgent } from '#libs/agents';
import { readIdempotencyKey } from '#libs/executor';
import { A2AError } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import { activeExtensions } from '../extensions.js';
import { activatedExtensions, readTrace } from '../http/call-context.js';
import type { GrpcAccess } from './grpc-access.js';
import type { GrpcConnection } from './grpc-connections.js';

/**
 * Converts gRPC metadata to the headers that an HTTP request with the same content would have, with names in lower
 * case.
 */
function headersOf(metadata: Metadata): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const name of Object.keys(metadata.getMap())) {
    if (!name.endsWith('-bin')) headers[name] = metadata.get(name).map(String).join(', ');
  }
  return headers;
}

/** Creates the context of a gRPC call. Service parameters are metadata of the same names (section 10.2). */
export function grpcCall(headers: IncomingHttpHeaders, agent: string, scope: TaskScope, baseUrl: string): CallContext {
  const key = headers['idempotency-key'];
  return {
    scope,
    agent,
    extensions: activatedExtensions(headers['a2a-extensions']),
    baseUrl,
    ...(key !== undefined && { idempotencyKey: readIdempotencyKey(key) }),
    ...readTrace(headers),
  };
}

/** Returns the metadata of an answer: the requested extensions that the agent supports. */
export function answerMetadata(call: CallContext, agent: ServedAgent): Metadata {
  const metadata = new Metadata();
  const active = activeExtensions(call.extensions, agent);
  if (active.length > 0) metadata.set('a2a-extensions', active.join(', '));
  return metadata;
}

/** Caller that the auth guard has admitted, and the headers of the call. */
export interface CallAdmission {
  caller: Caller;
  headers: IncomingHttpHeaders;
  /**
   * Registers a callback that is called once, when the stream of the call has closed.
   * @returns false if the stream has already closed
   */
  whenClosed: (done: () => void) => boolean;
}

/** Symbol of the CallAdmission in the metadata of a call, which the auth guard passes to the handler. */
const ADMISSION = Symbol('admission');

interface AdmittedMetadata extends Metadata {
  [ADMISSION]?: CallAdmission;
}

/** Maximum number of bytes of a message to the health service, which needs only the name of a service. */
const MOST_PUBLIC_BYTES = 4 * 1024;

/**
 * Returns what the auth guard stored in a call's metadata when it admitted the call: the caller and the call's headers.
 */
export function admissionOf(metadata: Metadata): CallAdmission {
  const admission = (metadata as AdmittedMetadata)[ADMISSION];
  if (!admission) throw new Error('A call came past the auth guard');
  return admission;
}

/**
 * Admission of one gRPC call, from its metadata to its end: counts the bytes of its message, and limits the time until
 * the message is complete.
 */
export abstract class GrpcVisit {
  private leave: (() => void) | undefined;
  private late: NodeJS.Timeout | undefined;
  protected over = false;

  constructor(
    protected readonly access: GrpcAccess,
    protected readonly connection: GrpcConnection,
  ) {}

  /** Admits the call by its metadata. Rejects with an A2AError if the call is not admitted. */
  async beginVisit(metadata: Metadata): Promise<void> {
    const leave = await this.admitCall(metadata);
    if (this.over) leave?.();
    else this.leave = leave;
  }

  /**
   * Limits the time until the message is complete.
   * @param late called if the message is not complete within REQUEST_TIMEOUT
   */
  expectMessage(late: () => void): void {
    if (this.over) return;
    this.late = setTimeout(() => {
      this.endVisit();
      late();
    }, this.access.messageTimeoutMs).unref();
  }

  /** Counts received bytes of the message. @throws A2AError if there are too many */
  abstract countReceived(bytes: number): void;

  /** Ends the time limit for the message, which is complete now. */
  completeMessage(): void {
    clearTimeout(this.late);
  }

  /** Ends the time limit, and calls the function that `admitCall` has returned. Further calls have no effect. */
  endVisit(): void {
    this.over = true;
    clearTimeout(this.late);
    this.leave?.();
    this.leave = undefined;
  }

  /**
   * Admits the call.
   * @returns the function to call once, when the call has ended; `undefined` if the call has already ended
   */
  protected abstract admitCall(metadata: Metadata): Promise<(() => void) | undefined>;
}

/** Admission of a call by an authenticated caller, within the caller's limits. */
export class CallerVisit extends GrpcVisit {
  private message: ArrivingBody | undefined;

  constructor(
    access: GrpcAccess,
    connection: GrpcConnection,
    private readonly whenClosed: CallAdmission['whenClosed'],
  ) {
    super(access, connection);
  }

  countReceived(bytes: number): void {
    const refusal = this.message?.acceptBytes(bytes);
    if (refusal) throw inFlightError(refusal);
  }

  override completeMessage(): void {
    super.completeMessage();
    this.message?.completeBody();
  }

  override endVisit(): void {
    super.endVisit();
    this.message?.releaseBytes();
    this.message = undefined;
  }

  protected async admitCall(metadata: AdmittedMetadata): Promise<(() => void) | undefined> {
    const headers = headersOf(metadata);
    const caller = await this.access.authenticateCaller(headers);
    if (this.over) return undefined;
    const leave = this.access.enterCall(caller, this.connection.address);
    try {
      this.message = this.access.admitMessage(caller);
    } catch (error) {
      leave();
      throw error;
    }
    this.connection.markKnown();
    metadata[ADMISSION] = { caller, headers, whenClosed: this.whenClosed };
    return leave;
  }
}

/** Admission of a health call without credentials: limited in number per address, and in the size of its message. */
export class PublicVisit extends GrpcVisit {
  private bytes = 0;

  constructor(
    access: GrpcAccess,
    connection: GrpcConnection,
    private readonly method: string,
  ) {
    super(access, connection);
  }

  countReceived(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes <= MOST_PUBLIC_BYTES) return;
    const message = `A message of the health service has at most ${MOST_PUBLIC_BYTES} bytes`;
    throw new A2AError('INVALID_REQUEST', { message, detailReason: 'MESSAGE_TOO_LARGE', status: 413 });
  }

  protected async admitCall(): Promise<() => void> {
    const leave = this.access.enterPublic(this.connection.address, this.method);
    const rest = this.connection.beginPublicCall();
    return () => {
      rest();
      leave();
    };
  }
}
