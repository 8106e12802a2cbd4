import { A2AError } from '#libs/protocol';

/** Path of the health service, whose callers need no credentials. */
const PUBLIC = '/grpc.health.v1.Health/';
const MOST_OF_ADDRESS = 100;
const RETRY_AFTER_SECONDS = '5';

/**
 * Open calls without credentials, which are those of the health service. An address has at most a hundred of each
 * method, so watches cannot fill the memory of the process, and a flood of them leaves room for a check.
 */
export class PublicCalls {
  private readonly open = new Map<string, number>();

  constructor(private readonly most = MOST_OF_ADDRESS) {}

  /**
   * Enters a call. @returns the function to call once when it has ended
   * @throws A2AError RATE_LIMITED
   */
  enterCall(address: string, method: string): () => void {
    const key = publicCallKey(address, method);
    const count = this.open.get(key) ?? 0;
    if (count >= this.most) throw tooManyPublicCalls(this.most);
    this.open.set(key, count + 1);
    return () => this.leaveCall(key);
  }

  /** True if an address may not begin another call of a method at present. */
  isFull(address: string, method: string): boolean {
    return (this.open.get(publicCallKey(address, method)) ?? 0) >= this.most;
  }

  private leaveCall(key: string): void {
    const left = (this.open.get(key) ?? 0) - 1;
    if (left > 0) this.open.set(key, left);
    else this.open.delete(key);
  }
}

/** True if a method needs no credentials. */
export function isPublicMethod(path: string): boolean {
  return path.startsWith(PUBLIC);
}

function publicCallKey(address: string, method: string): string {
  return `${address} ${method}`;
}

/** Creates the error for a call beyond the limit. */
export function tooManyPublicCalls(most = MOST_OF_ADDRESS): A2AError {
  return new A2AError('RATE_LIMITED', {
    message: `At most ${most} calls of this method may be open from one address`,
    metadata: { limit: 'public-calls', retryAfterSeconds: RETRY_AFTER_SECONDS },
    detailReason: 'RATE_LIMITED',
  });
}
