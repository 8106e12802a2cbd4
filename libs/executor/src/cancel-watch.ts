import { Injectable, Logger } from '@nestjs/common';
import { Shutdown } from '#libs/platform';
import { ExecutionRegistry } from './execution-registry.js';

const LOOK_MS = 500;

/** Looks for cancels that other replicas took for executions of this one; a caller waits half a second at most. */
@Injectable()
export class CancelWatch {
  private readonly logger = new Logger(CancelWatch.name);
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly registry: ExecutionRegistry,
    shutdown: Shutdown,
  ) {
    // Cancels are heard until the executions have ended.
    shutdown.register('connections', () => this.stop());
  }

  start(): void {
    this.timer = setTimeout(() => void this.look(), LOOK_MS);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async look(): Promise<void> {
    try {
      await this.registry.cancelRequested();
    } catch (error) {
      this.logger.warn({ err: error }, 'Looking for cancels failed; it is tried again');
    }
    if (!this.stopped) this.start();
  }
}
