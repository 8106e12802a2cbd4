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
import { A2AError } from '#libs/protocol';
import { addCount, type AppConfig, type InFlight } from '#libs/service';

/** Path of the gRPC health service, whose callers need no credentials. */
const PUBLIC = '/grpc.health.v1.Health/';
const MOST_OF_ADDRESS = 100;
const RETRY_AFTER_SECONDS = '5';

/**
 * Counts the open calls without credentials; only the health service accepts such calls. An address may have at most a
 * hundred open calls of each method: `Watch` calls cannot fill the memory of the process, and leave room for `Check`
 * calls.
 */
class PublicCalls {
  private readonly open = new Map<string, number>();

  constructor(private readonly most = MOST_OF_ADDRESS) {}

  /**
   * Counts a call as open.
   * @returns the function to call once, when the call has ended
   * @throws A2AError RATE_LIMITED if the address has as many open calls of the method as allowed
   */
  enterCall(address: string, method: string): () => void {
    const key = publicCallKey(address, method);
    if (this.isFull(address, method)) throw tooManyPublicCalls(this.most);
    addCount(this.open, key, 1);
    return () => void addCount(this.open, key, -1);
  }

  /** True if an address has as many open calls of a method as allowed. */
  isFull(address: string, method: string): boolean {
    return (this.open.get(publicCallKey(address, method)) ?? 0) >= this.most;
  }
}

/** True if a gRPC method needs no credentials. */
export function isPublicMethod(path: string): boolean {
  return path.startsWith(PUBLIC);
}

function publicCallKey(address: string, method: string): string {
  return `${address} ${method}`;
}

/**
 * Creates the error for a call without credentials that exceeds the limit of its address.
 * @param most maximum number of open calls of one method
 */
export function tooManyPublicCalls(most = MOST_OF_ADDRESS): A2AError {
  return new A2AError('RATE_LIMITED', {
    message: `At most ${most} calls of this method may be open from one address`,
    metadata: { limit: 'public-calls', retryAfterSeconds: RETRY_AFTER_SECONDS },
    detailReason: 'RATE_LIMITED',
  });
}

/**
 * Access checks of the gRPC binding: the same credentials and limits as over HTTP. Credentials are in metadata with
 * the names of the HTTP headers.
 */
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
   * Authenticates the caller.
   * @throws A2AError if the caller is unknown, or lacks the permission to call agents
   */
  async authenticateCaller(headers: IncomingHttpHeaders): Promise<Caller> {
    const caller = await this.authentication.identifyCaller(presentedCredentials(headers));
    if (!caller.permissions.has('agents')) throw permissionDenied(['agents']);
    return caller;
  }

  /** Counts a call against CallerLimits, until the returned function is called. @throws A2AError RATE_LIMITED */
  enterCall(caller: Caller, address: string): () => void {
    return this.limits.enterRequest(limitName(caller, address));
  }

  /**
   * Counts a call without credentials against the limit of its address.
   * @returns the function to call once, when the call has ended
   * @throws A2AError RATE_LIMITED if the address has as many open calls of the method as allowed
   */
  enterPublic(address: string, method: string): () => void {
    return this.publicCalls.enterCall(address, method);
  }

  /** True if an address has as many open calls of a method without credentials as allowed. */
  isPublicFull(address: string, method: string): boolean {
    return this.publicCalls.isFull(address, method);
  }

  /** Time limit for receiving a message, in milliseconds (REQUEST_TIMEOUT). */
  get messageTimeoutMs(): number {
    return this.config.requestTimeoutMs;
  }

  /**
   * Starts counting the bytes of an arriving message.
   * @throws A2AError if the bytes of all messages that are arriving exceed the limit
   */
  admitMessage(caller: Caller): ArrivingBody {
    const body = ArrivingBody.admitBody(this.inFlight, caller, this.config.bodyLimit);
    if (typeof body === 'string') throw inFlightError(body);
    return body;
  }

  /** Counts a stream against CallerLimits, until the returned function is called. @throws A2AError RATE_LIMITED */
  enterStream(caller: Caller, peer: string): () => void {
    return this.limits.enterStream(limitName(caller, addressOf(peer)));
  }

  /**
   * Watches the credentials of a stream's caller.
   * @param end called when the credentials expire or are revoked
   * @returns the function that ends the watch, to call when the stream has ended
   */
  watchCredentials(caller: Caller, end: () => void): () => void {
    return this.openCalls.watchStream(caller, () => {
      end();
      return true;
    });
  }
}

/** Returns the address of a gRPC peer (`address:port`), without its port. */
export function addressOf(peer: string): string {
  return peer.replace(/:\d+$/, '');
}
