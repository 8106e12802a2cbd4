/** Subscription on a WebSocket, from its message to its end. */
export class Subscription {
  private readonly controller = new AbortController();
  private readonly end = Promise.withResolvers<void>();

  /** Signal that aborts when the subscription is no longer wanted. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Resolves when all work for the subscription has ended. */
  get ended(): Promise<void> {
    return this.end.promise;
  }

  cancelSubscription(): void {
    this.controller.abort(CANCELED);
  }

  /** Reports that all work for the subscription has ended. */
  markEnded(): void {
    this.end.resolve();
  }
}

const CANCELED = new Error('The subscription is canceled');
