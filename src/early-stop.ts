import { type AppConfig, Shutdown } from '#libs/service';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/**
 * A signal that comes before the application is there to be closed: what is being begun is waited for, as long as the
 * grace time, so that it can be ended in order; after that what has been begun is ended as it is. The process ends with
 * 0 then, as it does after any other stop.
 */
export class EarlyStop {
  isWished = false;
  private readonly heed = (): void => {
    this.isWished = true;
    setTimeout(() => void this.end(), this.config.shutdownGraceMs);
  };

  constructor(private readonly config: AppConfig) {
    for (const signal of SIGNALS) process.once(signal, this.heed);
  }

  endIfWished(): void {
    if (this.isWished) process.exit(0);
  }

  /** From now on others heed signals. */
  leave(): void {
    for (const signal of SIGNALS) process.off(signal, this.heed);
  }

  private async end(): Promise<void> {
    await Shutdown.afterFailedStart(this.config, 0);
    process.exit(0);
  }
}
