import type { CallCancelOutcome } from '#libs/durable';
import {
  type Artifact,
  type FieldViolation,
  type FormQuestion,
  joinedText,
  type JsonValue,
  type Message,
  type Part,
  textBefore,
} from '#libs/protocol';
import type { FailureKind, Loop, WorkflowFailure, WorkflowNode } from '#libs/workflow-definition';

/** Reason for the end of a loop: its `exit_when` held, it reached its `max_iterations`, or an iteration failed. */
export type LoopReason = 'exit_when' | 'max' | 'failure';

/** Execution of a loop, from its first iteration to its last. */
export interface LoopRun {
  readonly loop: Loop;
  /** Iterations of the enclosing loops, outermost first. */
  readonly path: readonly number[];
  /** Number of the newest iteration, from 1; 0 until the loop is reached. */
  iteration: number;
  /** Reason for the end; absent while the loop runs. */
  reason?: LoopReason;
}

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

/** True if a node may have several such instances: in a loop, or for the entries of a list. */
export function isRepeated({ path, list }: NodeInstance): boolean {
  return path.length > 0 || list !== undefined;
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

/** Returns the name of an instance: the node's id, the iterations of the enclosing loops, and the index in a list. */
export function formatInstanceName(id: string, path: readonly number[], index?: number): string {
  const iterations = path.map((iteration) => `@${iteration}`).join('');
  return `${id}${iterations}${index === undefined ? '' : `[${index}]`}`;
}

/** Returns the node's id from the name of an instance, which need not exist yet. */
export function readNodeId(instance: string): string {
  return textBefore(instance, '@[');
}

/** Instances of a run's nodes. */
export class Instances {
  /** Newest instance of each node, by id; entries of lists are not included. */
  readonly nodes = new Map<string, NodeInstance>();
  readonly byName = new Map<string, NodeInstance>();

  /** @param made called with each new instance */
  constructor(private readonly made: (node: NodeInstance) => void) {}

  /** Returns the instance of a node in these iterations. Creates it, pending, if there is none. */
  ensureInstance(node: WorkflowNode, path: readonly number[]): NodeInstance {
    const known = this.byName.get(formatInstanceName(node.id, path));
    if (known) return known;
    const made = this.createInstance(node, { path, ...(node.each && { each: newList() }) });
    this.nodes.set(node.id, made);
    return made;
  }

  /** Creates the instance of an entry of `list`. */
  addListEntry(node: WorkflowNode, list: NodeInstance, index: number): NodeInstance {
    return this.createInstance(node, { path: list.path, index, list });
  }

  private createInstance(
    { id, type }: WorkflowNode,
    place: Pick<NodeInstance, 'path' | 'index' | 'list' | 'each'>,
  ): NodeInstance {
    const instance = formatInstanceName(id, place.path, place.index);
    const made: NodeInstance = { id, type, instance, ...place, status: 'pending', attempts: 0, artifacts: [] };
    this.byName.set(instance, made);
    this.made(made);
    return made;
  }
}

function newList(): NonNullable<NodeInstance['each']> {
  return { total: 0, runs: [], completed: 0, failed: 0, canceled: 0 };
}

/** Returns a node's output as text: the text of its first Artifact, or an empty text. */
export function outputText({ artifacts }: { artifacts: readonly Artifact[] }): string {
  return joinedText(artifacts[0]?.parts ?? []) ?? '';
}
