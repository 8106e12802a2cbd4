/** Knowledge of a client about one Task, from the service's answers. */
export interface Told {
  kind: 'run' | 'stream' | 'conversation' | 'cancel' | 'message' | 'thought';
  taskId: string;
  /** Id of the Message that created the Task, if the client chose it. */
  messageId?: string;
  /** Events in the order of the stream, with their JSON if it is that of the log. */
  seen: { sequence: number; json?: string }[];
  /** Ids of the follow-up Messages that were acknowledged. */
  heard: string[];
  /** Terminal state that the client received. */
  state?: string;
}

/** Record of everything that the service has reported to its clients, each entry once its answer was complete. */
export class ClientLog {
  readonly tasks: Told[] = [];
  /** Answers that no fault can justify. */
  readonly absurd: string[] = [];
  /** Answers with internal errors (see impropriety). */
  readonly improper: string[] = [];
  /** Number of requests without a usable answer, which were sent again. */
  repeated = 0;

  begin(told: Pick<Told, 'kind' | 'taskId' | 'messageId'>): Told {
    const entry: Told = { ...told, seen: [], heard: [] };
    this.tasks.push(entry);
    return entry;
  }
}
