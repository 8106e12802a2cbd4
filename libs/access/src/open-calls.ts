import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Passing, PassingSet } from '#libs/service';
import { Authentication } from './authentication.js';
import type { Caller, Proof } from './caller.js';

const LOOK_EVERY_MS = 1_000;

interface OpenCall {
  proof: Proof;
  end: () => boolean;
}

/**
 * Ends the streams of a caller whose key was revoked or whose token has ended: a stream may be open for hours, and is as
 * much access as a new request. Within a second of the time when new requests are refused. A plain request that was let
 * in is answered.
 */
@Injectable()
export class OpenCalls implements OnModuleDestroy {
  private readonly open = new PassingSet<OpenCall>();
  private readonly timer: NodeJS.Timeout;
  /** What is being found out at the moment. */
  private readonly asked = new Set<Proof>();

  constructor(private readonly authentication: Authentication) {
    this.timer = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /**
   * @param end ends the stream; false where there is none yet: it is called again then
   * @returns what to call when the stream has ended by itself
   */
  watch({ proof }: Caller, end: () => boolean): () => void {
    if (!proof) return NOTHING;
    const call = this.open.add({ proof, end });
    return () => call.leave();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** What takes long keeps nothing else waiting, and is not asked again meanwhile. */
  private look(): void {
    for (const [proof, calls] of Map.groupBy(this.open, ({ value }) => value.proof)) {
      if (!this.asked.has(proof)) void this.endUnlessHeld(proof, calls);
    }
  }

  /** Never rejects: where it cannot be found out, everything stays open. */
  private async endUnlessHeld(proof: Proof, calls: readonly Passing<OpenCall>[]): Promise<void> {
    this.asked.add(proof);
    const holds = await this.authentication.holds(proof).catch(() => true);
    this.asked.delete(proof);
    if (holds) return;
    for (const call of calls) if (call.isThere && call.value.end()) call.leave();
  }
}

function NOTHING(): void {}
