import type { CallCancelOutcome } from '#libs/agent-calls';
import type { Artifact, Message, Part } from '#libs/protocol';

export type NodeStatus = 'pending' | 'running' | 'input-required' | 'completed' | 'failed' | 'canceled' | 'skipped';

export type RunStatus = 'running' | 'input-required' | 'completed' | 'failed' | 'canceled';

/** What a run's log says of one node. */
export interface NodeRun {
  readonly id: string;
  readonly type: string;
  /** `Frontier` gives it. */
  readonly status: NodeStatus;
  /** How often the node was started; counts from 1, 0 while it is pending. */
  attempts: number;
  /** The agent that was called. */
  agentUrl?: string;
  /** The child's Task and its context, as far as the log names them. */
  taskId?: string;
  contextId?: string;
  /** The Message that was sent in this attempt last. */
  messageId?: string;
  /** The run's Message that the last one passed on, where it answered the child's question. */
  answer?: Message;
  artifacts: Artifact[];
  error?: string;
  /** What the child asks, while the node is `input-required`. */
  question?: Part[];
  /** Whether it asks for authentication and not for input. */
  wantsAuth?: boolean;
  /** What came of the cancel of its child, once it was canceled. */
  cancelOutcome?: CallCancelOutcome;
  /** ISO 8601. */
  startedAt?: string;
  finishedAt?: string;
}

/** The first failure of a run; `node` is absent where no node is to blame. */
export interface RunError {
  node?: string;
  message: string;
}

/** What became of one child when its run was canceled. */
export interface CanceledChild {
  node: string;
  agentUrl: string;
  taskId?: string;
  outcome: CallCancelOutcome;
}
