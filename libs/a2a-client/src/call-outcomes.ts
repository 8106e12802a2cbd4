import { toAgentCallError } from './call-failure.js';

/** Counter of finished outbound calls by outcome: `ok`, or the kind of the AgentCallError. */
export interface OutcomeCounter {
  inc(labels: { outcome: string }): void;
}

/** Counts the outcomes of calls to agents. */
export class CallOutcomes {
  constructor(private readonly calls?: OutcomeCounter) {}

  /** Runs and counts a call. @throws AgentCallError for any failure */
  async countOutcome<T>(call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      this.calls?.inc({ outcome: 'ok' });
      return answer;
    } catch (error) {
      throw this.#countFailure(error);
    }
  }

  /** Counts a stream of events. A reader that stops before its end counts as `ok`. */
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

  #countFailure(error: unknown): Error {
    const failure = toAgentCallError(error);
    this.calls?.inc({ outcome: failure.kind });
    return failure;
  }
}
