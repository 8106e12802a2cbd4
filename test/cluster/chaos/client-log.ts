/** What one client was told of one Task. */
export interface Told {
  kind: 'run' | 'stream' | 'conversation' | 'cancel' | 'message' | 'thought';
  taskId: string;
  /** The id of the Message that made the Task, where the client chose it. */
  messageId?: string;
  /** Events in the order in which a stream showed them, with their JSON where it is the log's own. */
  seen: { sequence: number; json?: string }[];
  /** The ids of follow-up Messages that were answered. */
  heard: string[];
  /** The terminal state that the client was told. */
  state?: string;
}

/** What the service told its clients, each thing only once its answer had come whole. */
export class ClientLog {
  readonly tasks: Told[] = [];
  /** Answers that no client should ever get, whatever breaks. */
  readonly absurd: string[] = [];
  /** Internal errors (see impropriety). */
  readonly improper: string[] = [];
  /** Requests that got no answer, or one that says nothing: they were made again. */
  repeated = 0;

  begin(told: Pick<Told, 'kind' | 'taskId' | 'messageId'>): Told {
    const entry: Told = { ...told, seen: [], heard: [] };
    this.tasks.push(entry);
    return entry;
  }
}
