/** A Task that a run has started at an agent of another process. */
export interface RunChild {
  runId: string;
  /** Name of the node's instance. */
  nodeId: string;
  attempt: number;
  taskId: string;
  agentUrl: string;
}

/** A question of a remote Task that has moved on without an answer of the run. */
export interface MovedOnChild {
  /** Name of the node's instance. */
  nodeId: string;
  /** Identifies the question of the node, see `questionId`. */
  asked: string;
}

/** Stores the Task ids of remote children, so that a recovered run finds them. */
export abstract class RunChildStore {
  /**
   * Stores a child. Resolves when durable. The first Task of a run, node and attempt stays; a second call changes
   * nothing.
   */
  abstract rememberChild(child: RunChild): Promise<void>;

  /** Returns the stored children of a run. */
  abstract listChildren(runId: string): Promise<RunChild[]>;

  /** Returns the questions of a run whose Tasks have moved on. */
  abstract movedOn(runId: string): Promise<MovedOnChild[]>;
}
