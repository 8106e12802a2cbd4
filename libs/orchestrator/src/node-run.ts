import type { CallCancelOutcome } from '#libs/agent-calls';
import type { Artifact, FieldViolation, FormQuestion, JsonValue, Message, Part } from '#libs/protocol';
import type { Failure, FailureKind } from './failure.js';

export type NodeStatus = 'pending' | 'running' | 'input-required' | 'completed' | 'failed' | 'canceled' | 'skipped';

export type RunStatus = 'running' | 'input-required' | 'completed' | 'failed' | 'canceled';

/**
 * Why a node is skipped: no edge to it was taken (`off`), what it needs has failed (`broken`), too few of its edges can
 * still be taken (`out-of-reach`), the run has failed (`failure`), or nobody needs it any more (`canceled`).
 */
export type SkipReason = 'off' | 'broken' | 'out-of-reach' | 'failure' | 'canceled';

/** What a run's log says of one instance of a node: the only one, that of one iteration, or of one entry of a list. */
export interface NodeRun {
  readonly id: string;
  readonly type: string;
  /** The id; with the iterations of the loops around it and its place in a list where it has such: `draft@2`, `tr[17]`. */
  readonly instance: string;
  /** The iterations of the loops around it, outermost first; they count from 1. */
  readonly path: readonly number[];
  /** Of an entry of a list: its place, from 0. */
  readonly index?: number;
  /** Of an entry of a list: the node's instance that goes through the list. */
  readonly list?: NodeRun;
  /** Of a node that goes through a list: what has become of its entries. It is never sent anything itself. */
  readonly each?: EachRun;
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
  /** When, or since when its Task goes on without another one (ISO 8601). */
  sentAt?: string;
  /** Number of times that its Task has moved on without a Message since the last one. */
  resumes?: number;
  /** The run's Message that the last one passed on, where it answered the child's question. */
  answer?: Message;
  /** The question that it answered: it stands where the child does not take the answer. */
  answered?: { question: Part[]; wantsAuth: boolean };
  artifacts: Artifact[];
  error?: string;
  /** Of the last attempt that failed, where the log tells more than a text. */
  failure?: Failure;
  /** What the child asks, while the node is `input-required`. */
  question?: Part[];
  /** Since when (ISO 8601). */
  askedAt?: string;
  /** Since when the run asks it as well, so that somebody can answer: when nothing else of the run can go on (ISO 8601). */
  openSince?: string;
  /** What it says of an answer. */
  asks?: FormQuestion;
  /** Why its agent has not taken the last answer: the question stands. */
  refused?: FieldViolation[];
  /** Whether the run has asked that already. */
  isAsked?: boolean;
  /** Whether it asks for authentication and not for input. */
  wantsAuth?: boolean;
  /** While it is `running` and nothing is done: until when. */
  waitsFor?: { state: 'timer' | 'retry'; until: string };
  /** Of its outgoing edges for which something had to be decided: those that were taken, as places in `edges`. */
  taken?: readonly number[];
  /** Whether its result is its `fallback`. */
  fallback?: boolean;
  /** The run that it was taken over from. */
  origin?: string;
  /** Why it is `skipped`. */
  because?: SkipReason;
  /** What came of the cancel of its child, once it was canceled. */
  cancelOutcome?: CallCancelOutcome;
  /** ISO 8601. */
  startedAt?: string;
  finishedAt?: string;
}

/** How far a node has come with the list that it goes through. */
export interface EachRun {
  /** The list; absent until `each.started` tells it, and once the node has ended. */
  items?: readonly JsonValue[];
  /** How many entries the list has; 0 until it is told. */
  total: number;
  /** The instances of the entries that were reached, by their place. */
  readonly runs: NodeRun[];
  /** How many entries have ended in each way. */
  completed: number;
  failed: number;
  canceled: number;
  /** The first entry that failed. */
  firstFailed?: NodeRun;
}

/** The first failure of a run that nothing took care of; `node` is absent where no node is to blame. */
export interface RunError {
  /** Absent in logs from before failures had kinds, and where the run did not come to its end by itself. */
  kind?: FailureKind;
  node?: string;
  instance?: string;
  message: string;
}

/** What became of one child when its run was canceled. */
export interface CanceledChild {
  node: string;
  /** Where it is not the node's id. */
  instance?: string;
  agentUrl: string;
  taskId?: string;
  outcome: CallCancelOutcome;
}
