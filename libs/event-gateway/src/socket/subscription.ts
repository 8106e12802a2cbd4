/** One subscription on a WebSocket, from the message that asks for it to its end. */
export class Subscription {
  private readonly controller = new AbortController();
  private readonly end = Promise.withResolvers<void>();

  /** Aborts when the subscription is no longer wanted. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Resolves when nothing is done for it any more. */
  get ended(): Promise<void> {
    return this.end.promise;
  }

  cancel(): void {
    this.controller.abort(CANCELED);
  }

  /** Tells that nothing is done for it any more. */
  finish(): void {
    this.end.resolve();
  }
}

const CANCELED = new Error('The subscription is canceled');
