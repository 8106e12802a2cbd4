import { durationOf } from '#libs/expressions';
import type { NodeRun } from './node-run.js';
import { type TimerKind, Timers } from './timers.js';
import type { WorkflowNode } from './workflow.js';

/** The times of a run's nodes. What a node waits for an answer is no part of the time that it has. */
export class NodeClock {
  readonly timers = new Timers();
  private readonly ends = new Map<NodeRun, number>();
  /** In milliseconds: of nodes that wait for an answer. */
  private readonly left = new Map<NodeRun, number>();
  /** Likewise: of nodes that were not sent anything yet in their attempt. */
  private readonly unsent = new Map<NodeRun, number>();

  constructor(private readonly nodeOf: (id: string) => WorkflowNode) {}

  /** An attempt begins. */
  begin(node: NodeRun, at: string): void {
    this.clear(node);
    const timeout = durationOf(this.nodeOf(node.id).timeout);
    if (timeout === undefined || node.each !== undefined) return;
    this.limit(node, timeOf(at) + timeout);
    this.unsent.set(node, timeout);
  }

  /** Its agent asks, and has time again when it is answered. */
  ask(node: NodeRun, at: string): void {
    const end = this.ends.get(node);
    this.clear(node);
    if (end !== undefined) this.left.set(node, Math.max(end - timeOf(at), 0));
    this.open(node);
  }

  /** Nobody can answer before the run asks, and no time is over before that. */
  open(node: NodeRun): void {
    const deadline = questionDeadline(this.nodeOf(node.id), node.openSince);
    if (deadline !== undefined) this.timers.set('question', deadline, node);
  }

  /** It is sent a Message: with the first one of an attempt its time begins. */
  send(node: NodeRun, at: string): void {
    const left = this.left.get(node) ?? this.unsent.get(node);
    if (left === undefined) {
      if (!this.ends.has(node)) this.timers.clear(node);
      return;
    }
    this.clear(node);
    this.limit(node, timeOf(at) + left);
  }

  /** It does nothing until then. */
  wait(node: NodeRun, kind: TimerKind, until: number): void {
    this.clear(node);
    this.timers.set(kind, until, node);
  }

  clear(node: NodeRun): void {
    this.timers.clear(node);
    this.ends.delete(node);
    this.left.delete(node);
    this.unsent.delete(node);
  }

  private limit(node: NodeRun, end: number): void {
    this.ends.set(node, end);
    this.timers.set('timeout', end, node);
  }
}

/** When a question that is open since then has waited long enough, in milliseconds of the epoch. */
export function questionDeadline({ onWait }: WorkflowNode, openSince: string | undefined): number | undefined {
  const patience = durationOf(onWait?.deadline);
  return patience === undefined || openSince === undefined ? undefined : timeOf(openSince) + patience;
}

/** In milliseconds of the epoch. */
export function timeOf(text: string): number {
  return Date.parse(text) || 0;
}
