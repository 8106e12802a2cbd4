import { toAgentCallError } from './call-failure.js';

/** Counts outbound calls when they are over: `ok`, or the kind of the AgentCallError. */
export interface OutcomeCounter {
  inc(labels: { outcome: string }): void;
}

/** Counts how calls to agents end. */
export class CallOutcomes {
  constructor(private readonly calls?: OutcomeCounter) {}

  /** @throws AgentCallError whatever the call threw */
  async counted<T>(call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      this.calls?.inc({ outcome: 'ok' });
      return answer;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** A reader that stops before the end has left, not failed. */
  async *countedStream<T>(events: AsyncIterable<T>): AsyncIterable<T> {
    let outcome = 'ok';
    try {
      yield* events;
    } catch (error) {
      const failure = toAgentCallError(error);
      outcome = failure.kind;
      throw failure;
    } finally {
      this.calls?.inc({ outcome });
    }
  }

  #failed(error: unknown): Error {
    const failure = toAgentCallError(error);
    this.calls?.inc({ outcome: failure.kind });
    return failure;
  }
}
