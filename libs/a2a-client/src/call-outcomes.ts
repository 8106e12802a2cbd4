import { toAgentCallError } from './call-failure.js';

/** Told of every outbound call when it is over: `ok`, or the kind of its AgentCallError. */
export type OutcomeCounter = (outcome: string) => void;

/** Counts how calls to agents end. */
export class CallOutcomes {
  constructor(private readonly count: OutcomeCounter = () => undefined) {}

  /** @throws AgentCallError whatever the call threw */
  async counted<T>(call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      this.count('ok');
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
      this.count(outcome);
    }
  }

  #failed(error: unknown): Error {
    const failure = toAgentCallError(error);
    this.count(failure.kind);
    return failure;
  }
}
