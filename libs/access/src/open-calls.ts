import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { PassingSet } from '#libs/service';
import { Authentication } from './authentication.js';
import type { Caller } from './caller.js';

const LOOK_EVERY_MS = 1_000;

interface OpenCall {
  caller: Caller;
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

  constructor(private readonly authentication: Authentication) {
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  /**
   * @param end ends the stream; false where there is none yet: it is called again then
   * @returns what to call when the stream has ended by itself
   */
  watch(caller: Caller, end: () => boolean): () => void {
    if (!caller.proof) return NOTHING;
    const call = this.open.add({ caller, end });
    return () => call.leave();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Never rejects: where it cannot be found out, everything stays open. */
  private async look(): Promise<void> {
    const callers = Map.groupBy(this.open, ({ value }) => value.caller.proof);
    for (const [proof, calls] of callers) {
      const holds = await Promise.resolve(proof === undefined || this.authentication.holds(proof)).catch(() => true);
      if (holds) continue;
      for (const call of calls) if (call.isThere && call.value.end()) call.leave();
    }
  }
}

function NOTHING(): void {}
