import type { CallCancelOutcome } from '#libs/agent-calls';
import type { Artifact, FieldViolation, FormQuestion, JsonValue, Message, Part } from '#libs/protocol';
import type { WorkflowFailure, FailureKind } from './failure.js';

export type NodeStatus = 'pending' | 'running' | 'input-required' | 'completed' | 'failed' | 'canceled' | 'skipped';

export type RunStatus = 'running' | 'input-required' | 'completed' | 'failed' | 'canceled';

/**
 * Reason why a node is skipped: no edge to it was taken (`off`), a node that it needs has failed (`broken`), too few of
 * its edges can still be taken (`out-of-reach`), the run has failed (`failure`), or its result is not needed anymore
 * (`canceled`).
 */
export type SkipReason = 'off' | 'broken' | 'out-of-reach' | 'failure' | 'canceled';

/** State of an instance of a node: the only one, that of an iteration, or that of an entry of a list. */
export interface NodeInstance {
  readonly id: string;
  readonly type: string;
  /** Name of the instance: the id with its iterations and its index in a list, for example `draft@2` or `tr[17]`. */
  readonly instance: string;
  /** Iterations of the surrounding loops, outermost first, counted from 1. */
  readonly path: readonly number[];
  /** Index of an entry in its list, from 0. */
  readonly index?: number;
  /** Instance that processes the list of this entry. */
  readonly list?: NodeInstance;
  /** Progress of a node that processes a list. The node itself is never sent a Message. */
  readonly each?: EachRun;
  /** Set by `Frontier`. */
  readonly status: NodeStatus;
  /** Number of starts; 0 while the node is pending. */
  attempts: number;
  /** URL of the agent that was called. */
  agentUrl?: string;
  /** Task and context of the child, as far as the log names them. */
  taskId?: string;
  contextId?: string;
  /** Message that was sent last in this attempt. */
  messageId?: string;
  /** Time at which it was sent, or at which its Task resumed without a Message (ISO 8601). */
  sentAt?: string;
  /** Number of times that its Task has moved on without a Message since the last one. */
  resumes?: number;
  /** Message of the run that the last one forwarded as an answer to the child's question. */
  answer?: Message;
  /** The answered question; it stays open if the child rejects the answer. */
  answered?: { question: Part[]; wantsAuth: boolean };
  artifacts: Artifact[];
  error?: string;
  /** Failure of the last failed attempt, if the log has more than a text. */
  failure?: WorkflowFailure;
  /** Question of the child while the node is `input-required`. */
  question?: Part[];
  /** Time of the question (ISO 8601). */
  askedAt?: string;
  /**
   * Time since which the run itself asks the question, so that a caller can answer it: when nothing else of the run can
   * continue (ISO 8601).
   */
  openSince?: string;
  /** Form of the answer. */
  asks?: FormQuestion;
  /** Why the agent rejected the last answer; the question stays open. */
  refused?: FieldViolation[];
  /** True if the run has asked the question. */
  isAsked?: boolean;
  /** True if the child asks for authentication instead of input. */
  wantsAuth?: boolean;
  /** Reason and end of an idle wait of a `running` node. */
  waitsFor?: { state: 'timer' | 'retry'; until: string };
  /** Taken edges as indexes in `edges`, of the outgoing edges that had to be decided. */
  taken?: readonly number[];
  /** True if its result is its `fallback`. */
  fallback?: boolean;
  /** Run from which the result was reused. */
  origin?: string;
  /** Reason why it is `skipped`. */
  because?: SkipReason;
  /** Outcome of the cancel of its child. */
  cancelOutcome?: CallCancelOutcome;
  /** ISO 8601. */
  startedAt?: string;
  finishedAt?: string;
}

/** Progress of a node with the list that it processes. */
export interface EachRun {
  /** The list; absent before `each.started` and after the node has ended. */
  items?: readonly JsonValue[];
  /** Number of entries of the list; 0 before it is known. */
  total: number;
  /** Instances of the entries that were reached, by index. */
  readonly runs: NodeInstance[];
  /** Number of entries by outcome. */
  completed: number;
  failed: number;
  canceled: number;
  /** First entry that failed. */
  firstFailed?: NodeInstance;
}

/** The first unhandled failure of a run; `node` is absent if no node caused it. */
export interface RunError {
  /** Kind of the failure; absent in logs from before failures had kinds, and if the run was ended from outside. */
  kind?: FailureKind;
  node?: string;
  instance?: string;
  message: string;
}

/** Outcome for a child when its run was canceled. */
export interface CanceledChild {
  node: string;
  /** Name of the instance, if it is not the node's id. */
  instance?: string;
  agentUrl: string;
  taskId?: string;
  outcome: CallCancelOutcome;
}
