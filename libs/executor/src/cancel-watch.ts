import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import { NO_KEY, ReplicaSignals } from '#libs/postgres';
import { Shutdown } from '#libs/service';
import { ExecutionRegistry } from './execution-registry.js';
import { CANCEL_REQUESTED } from './task-cancels.js';

/** Injection token: milliseconds between lookups without a signal, 500 by default. */
export const CANCEL_LOOK_MS = Symbol('CANCEL_LOOK_MS');

/**
 * Looks for cancels that other replicas accepted for executions of this one: on their signal, and twice a second
 * because signals may be lost.
 */
@Injectable()
export class CancelPoller {
  private readonly logger = new Logger(CancelPoller.name);
  private timer: NodeJS.Timeout | undefined;
  private looking = false;
  private again = false;
  private stopped = false;

  constructor(
    private readonly registry: ExecutionRegistry,
    shutdown: Shutdown,
    @Optional() private readonly signals?: ReplicaSignals,
    @Optional() @Inject(CANCEL_LOOK_MS) private readonly lookMs = 500,
  ) {
    // Cancels are handled until the executions have ended.
    shutdown.registerStep('connections', () => this.stop());
  }

  start(): void {
    const lookNow = (): void => void this.lookForCancels();
    this.timer = setInterval(lookNow, this.lookMs);
    this.signals?.subscribeTopic(CANCEL_REQUESTED, { wakeFor: lookNow, catchUp: lookNow }).watchKey(NO_KEY);
  }

  stop(): void {
    this.stopped = true;
    clearInterval(this.timer);
  }

  /** Looks once at a time. A request during a lookup causes another one right after it. */
  private async lookForCancels(): Promise<void> {
    this.again = true;
    if (this.looking) return;
    this.looking = true;
    while (this.again && !this.stopped) {
      this.again = false;
      try {
        await this.registry.cancelRequested();
      } catch (error) {
        this.logger.warn({ err: error }, 'Looking for cancels failed; it is tried again');
      }
    }
    this.looking = false;
  }
}
