/** A Task that a run made at an agent of another process. */
export interface RunChild {
  runId: string;
  /** The instance of the node. */
  nodeId: string;
  attempt: number;
  taskId: string;
  agentUrl: string;
}

/** A question of an agent of another process whose Task has moved on without an answer of the run. */
export interface MovedOnChild {
  /** The instance of the node. */
  nodeId: string;
  /** Which question of the node it was, see `questionId`. */
  asked: string;
}

/** Keeps the Task ids of children whose Task is not in this service's own store, so that a recovered run finds them. */
export abstract class RunChildStore {
  /** Resolves when durable. The first Task of a run, node and attempt stays; a second call changes nothing. */
  abstract remember(child: RunChild): Promise<void>;

  /** The remembered children of a run. */
  abstract of(runId: string): Promise<RunChild[]>;

  /** The questions of a run whose Tasks were found to have moved on. */
  abstract movedOn(runId: string): Promise<MovedOnChild[]>;
}
