import { A2AError } from '#libs/protocol';

const MOST_OF_ADDRESS = 100;
const RETRY_AFTER_SECONDS = '5';

/**
 * The calls without credentials that are open at once: those of the health service. Of each method at most a hundred of an
 * address, so that nobody fills the memory of the process with watches, and a flood of them leaves room for a check.
 */
export class PublicCalls {
  private readonly open = new Map<string, number>();

  constructor(private readonly most = MOST_OF_ADDRESS) {}

  /**
   * Lets a call begin. @returns what to call, once, when it has ended
   * @throws A2AError RATE_LIMITED
   */
  enter(address: string, method: string): () => void {
    const key = `${address} ${method}`;
    const count = this.open.get(key) ?? 0;
    if (count >= this.most) throw tooMany(this.most);
    this.open.set(key, count + 1);
    return () => this.leave(key);
  }

  private leave(key: string): void {
    const left = (this.open.get(key) ?? 0) - 1;
    if (left > 0) this.open.set(key, left);
    else this.open.delete(key);
  }
}

function tooMany(most: number): A2AError {
  return new A2AError('RATE_LIMITED', {
    message: `At most ${most} calls of this method may be open from one address`,
    metadata: { limit: 'public-calls', retryAfterSeconds: RETRY_AFTER_SECONDS },
    detailReason: 'RATE_LIMITED',
  });
}
