import { A2AError } from '#libs/protocol';

/** Uploads of one caller that this process receives at a time. */
const MOST_AT_A_TIME = 4;
const RETRY_AFTER_SECONDS = '1';

/** Limits how many uploads of one caller are under way. */
export class UploadTurns {
  private readonly counts = new Map<string, number>();

  /** Lets an upload begin. @returns what to call, once, when it is over @throws A2AError RATE_LIMITED */
  enter(caller: string): () => void {
    const count = this.counts.get(caller) ?? 0;
    if (count >= MOST_AT_A_TIME) {
      throw new A2AError('RATE_LIMITED', {
        message: `${MOST_AT_A_TIME} uploads of yours are under way; try again later`,
        metadata: { limit: 'uploads', retryAfterSeconds: RETRY_AFTER_SECONDS },
        detailReason: 'RATE_LIMITED',
      });
    }
    this.counts.set(caller, count + 1);
    return () => this.leave(caller);
  }

  private leave(caller: string): void {
    const count = this.counts.get(caller) ?? 0;
    if (count <= 1) this.counts.delete(caller);
    else this.counts.set(caller, count - 1);
  }
}
