import type { IncomingHttpHeaders } from 'node:http';
import {
  ArrivingBody,
  type Authentication,
  type Caller,
  type CallerLimits,
  inFlightError,
  limitName,
  type OpenCalls,
  permissionDenied,
  presentedCredentials,
} from '#libs/access';
import type { AppConfig, InFlight } from '#libs/service';
import { PublicCalls } from './public-calls.js';

/** The auth guard of the gRPC binding: the same credentials as over HTTP, as metadata of the same names. */
export class GrpcAccess {
  private readonly publicCalls = new PublicCalls();

  constructor(
    private readonly authentication: Authentication,
    private readonly openCalls: OpenCalls,
    private readonly limits: CallerLimits,
    private readonly inFlight: InFlight,
    private readonly config: Pick<AppConfig, 'bodyLimit' | 'requestTimeoutMs'>,
  ) {}

  /** Who calls. Rejects with an A2AError where it is nobody that may call agents, which is all that gRPC serves. */
  async caller(headers: IncomingHttpHeaders): Promise<Caller> {
    const caller = await this.authentication.caller(presentedCredentials(headers));
    if (!caller.permissions.has('agents')) throw permissionDenied(['agents']);
    return caller;
  }

  /** As CallerLimits. @throws A2AError RATE_LIMITED */
  enter(caller: Caller, address: string): () => void {
    return this.limits.enter(limitName(caller, address));
  }

  /** Enters a call without credentials, as PublicCalls does. @throws A2AError RATE_LIMITED */
  enterPublic(address: string, method: string): () => void {
    return this.publicCalls.enter(address, method);
  }

  /** Returns whether an address has as many calls of a method as it may. */
  isPublicFull(address: string, method: string): boolean {
    return this.publicCalls.isFull(address, method);
  }

  /** How long a message may take to come, in milliseconds. */
  get messageTimeoutMs(): number {
    return this.config.requestTimeoutMs;
  }

  /** Counts a message as it comes. @throws A2AError where too much is in flight already */
  message(caller: Caller): ArrivingBody {
    const body = ArrivingBody.enter(this.inFlight, caller, this.config.bodyLimit);
    if (typeof body === 'string') throw inFlightError(body);
    return body;
  }

  /** As CallerLimits. @throws A2AError RATE_LIMITED */
  stream(caller: Caller, peer: string): () => void {
    return this.limits.stream(limitName(caller, addressOf(peer)));
  }

  /** As OpenCalls: ends a stream whose caller's credentials have ended. @returns what to call when it has ended */
  watch(caller: Caller, end: () => void): () => void {
    return this.openCalls.watch(caller, () => {
      end();
      return true;
    });
  }
}

/** The address of a peer, which is an address and a port. */
export function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, '');
}
