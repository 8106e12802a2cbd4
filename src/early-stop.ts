import { type AppConfig, Shutdown } from '#libs/service';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * Handles signals before the application exists. A signal waits for the start to finish, at most the grace time, so
 * that it can be stopped in order; after that the process ends what it has started at once. Its exit code is 0, as
 * after any other stop.
 */
export class EarlyStop {
  isWished = false;
  private readonly onSignal = (): void => {
    this.isWished = true;
    setTimeout(() => void this.endNow(), this.config.shutdownGraceMs);
  };

  constructor(private readonly config: AppConfig) {
    for (const signal of SIGNALS) process.once(signal, this.onSignal);
  }

  endIfWished(): void {
    if (this.isWished) process.exit(0);
  }

  /** Stops handling signals; from now on the application handles them. */
  releaseSignals(): void {
    for (const signal of SIGNALS) process.off(signal, this.onSignal);
  }

  private async endNow(): Promise<void> {
    await Shutdown.afterFailedStart(this.config, 0);
    process.exit(0);
  }
}
