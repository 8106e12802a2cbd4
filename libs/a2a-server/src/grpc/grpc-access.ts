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

/** Access checks of the gRPC binding: credentials and limits as over HTTP, from metadata of the same names. */
export class GrpcAccess {
  private readonly publicCalls = new PublicCalls();

  constructor(
    private readonly authentication: Authentication,
    private readonly openCalls: OpenCalls,
    private readonly limits: CallerLimits,
    private readonly inFlight: InFlight,
    private readonly config: Pick<AppConfig, 'bodyLimit' | 'requestTimeoutMs'>,
  ) {}

  /**
   * Authenticates the caller. @throws A2AError if the caller is unknown or may not call agents, the only purpose of
   * gRPC
   */
  async authenticateCaller(headers: IncomingHttpHeaders): Promise<Caller> {
    const caller = await this.authentication.identifyCaller(presentedCredentials(headers));
    if (!caller.permissions.has('agents')) throw permissionDenied(['agents']);
    return caller;
  }

  /** Enters a call into CallerLimits. @returns the function that leaves @throws A2AError RATE_LIMITED */
  enterCall(caller: Caller, address: string): () => void {
    return this.limits.enterRequest(limitName(caller, address));
  }

  /** Enters a call without credentials into PublicCalls. @throws A2AError RATE_LIMITED */
  enterPublic(address: string, method: string): () => void {
    return this.publicCalls.enterCall(address, method);
  }

  /** True if an address has as many calls of a method as allowed. */
  isPublicFull(address: string, method: string): boolean {
    return this.publicCalls.isFull(address, method);
  }

  /** Limit for receiving a message, in milliseconds. */
  get messageTimeoutMs(): number {
    return this.config.requestTimeoutMs;
  }

  /** Starts counting an arriving message. @throws A2AError if too much is in flight */
  admitMessage(caller: Caller): ArrivingBody {
    const body = ArrivingBody.admitBody(this.inFlight, caller, this.config.bodyLimit);
    if (typeof body === 'string') throw inFlightError(body);
    return body;
  }

  /** Enters a stream into CallerLimits. @returns the function that leaves @throws A2AError RATE_LIMITED */
  enterStream(caller: Caller, peer: string): () => void {
    return this.limits.enterStream(limitName(caller, addressOf(peer)));
  }

  /** Ends a stream when its caller's credentials end. @returns the function to call when the stream has ended */
  watchCredentials(caller: Caller, end: () => void): () => void {
    return this.openCalls.watchStream(caller, () => {
      end();
      return true;
    });
  }
}

/** Returns the address of a peer, without its port. */
export function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, '');
}
