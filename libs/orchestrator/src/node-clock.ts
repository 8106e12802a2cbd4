import { parseDuration } from '#libs/expressions';
import type { NodeInstance } from './node-run.js';
import { type TimerKind, Timers } from './timers.js';
import type { WorkflowNode } from './workflow.js';

/** Timers of a run's nodes. The time for which a node waits for an answer does not count toward its timeout. */
export class NodeClock {
  readonly timers = new Timers();
  private readonly ends = new Map<NodeInstance, number>();
  /** Remaining milliseconds of nodes that wait for an answer. */
  private readonly left = new Map<NodeInstance, number>();
  /** Remaining milliseconds of nodes that have not been sent a Message in this attempt. */
  private readonly unsent = new Map<NodeInstance, number>();

  constructor(private readonly nodeOf: (id: string) => WorkflowNode) {}

  /** Starts the timeout of an attempt. */
  beginAttempt(node: NodeInstance, at: string): void {
    this.clear(node);
    const timeout = parseDuration(this.nodeOf(node.id).timeout);
    if (timeout === undefined || node.each !== undefined) return;
    this.setAttemptEnd(node, parseTimestamp(at) + timeout);
    this.unsent.set(node, timeout);
  }

  /** Stops the timeout while the node's agent waits for an answer; it continues after the answer. */
  pauseForQuestion(node: NodeInstance, at: string): void {
    const end = this.ends.get(node);
    this.clear(node);
    if (end !== undefined) this.left.set(node, Math.max(end - parseTimestamp(at), 0));
    this.startQuestionTimer(node);
  }

  /** Starts the deadline of a question. It counts from the time at which the run itself asks the question. */
  startQuestionTimer(node: NodeInstance): void {
    const deadline = questionDeadline(this.nodeOf(node.id), node.openSince);
    if (deadline !== undefined) this.timers.set('question', deadline, node);
  }

  /** Starts or continues the timeout when the node is sent a Message. The first Message of an attempt restarts it. */
  startTimeout(node: NodeInstance, at: string): void {
    const left = this.left.get(node) ?? this.unsent.get(node);
    if (left === undefined) {
      if (!this.ends.has(node)) this.timers.clear(node);
      return;
    }
    this.clear(node);
    this.setAttemptEnd(node, parseTimestamp(at) + left);
  }

  /** Sets the only timer of a node that does nothing until then. */
  waitUntil(node: NodeInstance, kind: TimerKind, until: number): void {
    this.clear(node);
    this.timers.set(kind, until, node);
  }

  clear(node: NodeInstance): void {
    this.timers.clear(node);
    this.ends.delete(node);
    this.left.delete(node);
    this.unsent.delete(node);
  }

  private setAttemptEnd(node: NodeInstance, end: number): void {
    this.ends.set(node, end);
    this.timers.set('timeout', end, node);
  }
}

/** Returns the deadline of an open question, in milliseconds of the epoch; `undefined` if it has none. */
export function questionDeadline({ onWait }: WorkflowNode, openSince: string | undefined): number | undefined {
  const patience = parseDuration(onWait?.deadline);
  return patience === undefined || openSince === undefined ? undefined : parseTimestamp(openSince) + patience;
}

/** Parses a timestamp to milliseconds of the epoch; 0 if it is invalid. */
export function parseTimestamp(text: string): number {
  return Date.parse(text) || 0;
}
