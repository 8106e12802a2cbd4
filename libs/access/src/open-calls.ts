import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type ShortLivedItem, ShortLivedSet } from '#libs/service';
import { Authentication } from './authentication.js';
import type { Caller, Proof } from './caller.js';

const LOOK_EVERY_MS = 1_000;

interface WatchedStream {
  proof: Proof;
  end: () => boolean;
}

/**
 * Ends the streams of callers whose key was revoked or whose token has expired: a stream may be open for hours, and
 * grants as much access as new requests. A stream ends at most a second after new requests of its caller are refused.
 * Other requests that were admitted are still answered.
 */
@Injectable()
export class OpenCalls implements OnModuleDestroy {
  private readonly open = new ShortLivedSet<WatchedStream>();
  private readonly timer: NodeJS.Timeout;
  /** Proofs that are being verified now. */
  private readonly asked = new Set<Proof>();

  constructor(private readonly authentication: Authentication) {
    this.timer = setInterval(() => this.checkProofs(), LOOK_EVERY_MS).unref();
  }

  /**
   * Watches a stream, and calls `end` once the key or token of its caller is no longer valid.
   * @param end ends the stream and returns true; returns false if the stream has not begun yet, and is called again
   *   later
   * @returns the function that ends the watch, to call when the stream has ended by itself
   */
  watchStream({ proof }: Caller, end: () => boolean): () => void {
    if (!proof) return doNothing;
    const call = this.open.add({ proof, end });
    return () => call.leaveSet();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /**
   * Verifies the proofs of open streams. A slow verification delays no other proof, and is not started again while it
   * runs.
   */
  private checkProofs(): void {
    for (const [proof, calls] of Map.groupBy(this.open, ({ value }) => value.proof)) {
      if (!this.asked.has(proof)) void this.endUnlessHeld(proof, calls);
    }
  }

  /** Ends the streams of an invalid proof. Never rejects: if the proof cannot be verified, the streams stay open. */
  private async endUnlessHeld(proof: Proof, calls: readonly ShortLivedItem<WatchedStream>[]): Promise<void> {
    this.asked.add(proof);
    const holds = await this.authentication.isProofValid(proof).catch(() => true);
    this.asked.delete(proof);
    if (holds) return;
    for (const call of calls) if (call.isThere && call.value.end()) call.leaveSet();
  }
}

function doNothing(): void {}
