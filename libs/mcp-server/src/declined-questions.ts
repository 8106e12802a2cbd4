import type { ReplicaSignals, SignalSubscription, SignalTopic } from '#libs/postgres';

/** Topic of the signals that a client has declined a question. The key of a signal is the id of the elicitation. */
const DECLINED: SignalTopic = { name: 'mcp_declined', shards: 4 };

/**
 * Questions that this replica has asked in the streams of open calls, and whose calls wait for the answer.
 * The client's reply is a separate HTTP request, which any replica may receive. If the reply has no answer, that
 * replica signals this to all replicas, and the replica that asked ends the call. If the signal is lost, the call stays
 * open until the Task has an answer or the client leaves.
 */
export class DeclinedQuestions {
  private readonly watches = new Map<string, Set<() => void>>();
  private readonly subscription: SignalSubscription | undefined;

  /** @param signals signals to the other replicas; absent: there are none */
  constructor(private readonly signals?: ReplicaSignals) {
    this.subscription = signals?.subscribeTopic(DECLINED, {
      wakeFor: (id) => this.endCalls(id),
      catchUp: () => undefined,
    });
  }

  /**
   * Calls a function when the client declines a question. Disposing of the result ends this.
   * @param id id of the elicitation that asks the question
   */
  watchQuestion(id: string, onDeclined: () => void): Disposable {
    const watches = this.watches.get(id) ?? new Set();
    this.watches.set(id, watches.add(onDeclined));
    this.subscription?.watchKey(id);
    return {
      [Symbol.dispose]: () => {
        watches.delete(onDeclined);
        if (watches.size === 0) this.watches.delete(id);
        this.subscription?.unwatchKey(id);
      },
    };
  }

  /** Ends the call that asked a question, on this replica or another one. */
  reportDeclined(id: string): void {
    this.endCalls(id);
    this.signals?.sendSignal(DECLINED, id);
  }

  private endCalls(id: string): void {
    for (const onDeclined of this.watches.get(id) ?? []) onDeclined();
  }
}
