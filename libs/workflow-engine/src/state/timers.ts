import { parseDuration } from '#libs/expressions';
import type { WorkflowNode } from '#libs/workflow-definition';
import type { NodeInstance } from './node-instance.js';

/** Binary heap: a set that returns its least member at once. Adding or deleting a member takes logarithmic time. */
export class Heap<T> {
  private readonly items: T[] = [];
  private readonly places = new Map<T, number>();

  /** @param before true if `one` comes before `other`; a total order that does not change for members of the heap */
  constructor(private readonly before: (one: T, other: T) => boolean) {}

  get size(): number {
    return this.items.length;
  }

  /** Least member; `undefined` if the heap is empty. */
  get first(): T | undefined {
    return this.items[0];
  }

  has(item: T): boolean {
    return this.places.has(item);
  }

  add(item: T): void {
    if (this.places.has(item)) return;
    this.items.push(item);
    this.moveUp(this.items.length - 1);
  }

  delete(item: T): void {
    const place = this.places.get(item);
    if (place === undefined) return;
    this.places.delete(item);
    const last = this.items.pop() as T;
    if (last === item) return;
    this.placeItem(last, place);
    this.moveUp(place);
    this.moveDown(this.places.get(last) ?? place);
  }

  /**
   * Yields the members in ascending order, until `wanted` is false for one. Its cost depends on the number of yielded
   * members only.
   */
  *iterateInOrder(wanted: (item: T) => boolean = () => true): Generator<T> {
    const open = new Heap<number>((one, other) => this.before(this.items[one] as T, this.items[other] as T));
    if (this.items.length > 0) open.add(0);
    for (let place = open.first; place !== undefined; place = open.first) {
      open.delete(place);
      const item = this.items[place] as T;
      if (!wanted(item)) return;
      yield item;
      for (const child of [2 * place + 1, 2 * place + 2]) if (child < this.items.length) open.add(child);
    }
  }

  private moveUp(place: number): void {
    const item = this.items[place] as T;
    let at = place;
    for (let above = (at - 1) >> 1; at > 0 && this.before(item, this.items[above] as T); above = (at - 1) >> 1) {
      this.placeItem(this.items[above] as T, at);
      at = above;
    }
    this.placeItem(item, at);
  }

  private moveDown(place: number): void {
    const item = this.items[place] as T;
    let at = place;
    for (let below = this.lesserChild(at); below !== undefined; below = this.lesserChild(at)) {
      const child = this.items[below] as T;
      if (!this.before(child, item)) break;
      this.placeItem(child, at);
      at = below;
    }
    this.placeItem(item, at);
  }

  private lesserChild(place: number): number | undefined {
    const [left, right] = [2 * place + 1, 2 * place + 2];
    if (left >= this.items.length) return undefined;
    return right < this.items.length && this.before(this.items[right] as T, this.items[left] as T) ? right : left;
  }

  private placeItem(item: T, place: number): void {
    this.items[place] = item;
    this.places.set(item, place);
  }
}

/**
 * Purpose of a timer:
 * - `retry`: next attempt of a node
 * - `loop`: next iteration of a loop (a timer of its first node)
 * - `wait`: end of a `wait` node
 * - `timeout`: time limit of an attempt
 * - `question`: deadline of a question
 * - `deadline`: deadline of the run
 * - `exit`: time limit of the `onExit` nodes
 */
type TimerKind = 'retry' | 'loop' | 'wait' | 'timeout' | 'question' | 'deadline' | 'exit';

export interface Timer {
  readonly kind: TimerKind;
  /** Time in milliseconds of the epoch. */
  readonly at: number;
  /** Node of the timer; absent for a timer of the run. */
  readonly node?: NodeInstance;
}

/** The timers of a run, by time and by node. */
class Timers {
  private readonly heap = new Heap<Timer & { order: number }>(
    (one, other) => one.at < other.at || (one.at === other.at && one.order < other.order),
  );
  private readonly byOwner = new Map<NodeInstance | undefined, (Timer & { order: number })[]>();
  private made = 0;

  /** Time of the earliest timer, in milliseconds of the epoch; `undefined` without timers. */
  get next(): number | undefined {
    return this.heap.first?.at;
  }

  /** Number of nodes that have at least one timer. */
  get ofNodes(): number {
    return this.byOwner.size - (this.byOwner.has(undefined) ? 1 : 0);
  }

  set(kind: TimerKind, at: number, node?: NodeInstance): void {
    const timer = { kind, at, order: this.made++, ...(node && { node }) };
    this.byOwner.set(node, [...(this.byOwner.get(node) ?? []), timer]);
    this.heap.add(timer);
  }

  /** Removes the timers of a node; if no node is given, the timers of the run itself. */
  clear(node?: NodeInstance): void {
    for (const timer of this.byOwner.get(node) ?? []) this.heap.delete(timer);
    this.byOwner.delete(node);
  }

  /** Returns the timers that are due at `now` (milliseconds of the epoch), earliest first. */
  listDue(now: number): Timer[] {
    return [...this.heap.iterateInOrder(({ at }) => at <= now)];
  }

  /**
   * Returns the time of the earliest timer that is not due yet, in milliseconds of the epoch; `undefined` if there is
   * none.
   */
  nextAfter(now: number): number | undefined {
    if (this.next === undefined || this.next > now) return this.next;
    for (const { at } of this.heap.iterateInOrder()) if (at > now) return at;
    return undefined;
  }
}

/**
 * Sets the timers of a run's nodes, as the log defines them. The time that a node waits for an answer does not
 * count toward its timeout. (`CallTimes` delays the timeouts of calls further; `RunAlarm` wakes the run.)
 */
export class NodeClock {
  readonly timers = new Timers();
  /** Times at which the timeouts of the current attempts end, in milliseconds of the epoch. */
  private readonly ends = new Map<NodeInstance, number>();
  /** Remaining timeout of nodes that wait for an answer, in milliseconds. */
  private readonly left = new Map<NodeInstance, number>();
  /** Timeouts of nodes that were sent no Message in the current attempt, in milliseconds. */
  private readonly unsent = new Map<NodeInstance, number>();

  constructor(private readonly nodeOf: (id: string) => WorkflowNode) {}

  /** Starts the timeout of a node's attempt. @param at start of the attempt (ISO 8601) */
  beginAttempt(node: NodeInstance, at: string): void {
    this.clear(node);
    const { timeout: text } = this.nodeOf(node.id);
    if (text === undefined || node.each !== undefined) return;
    const timeout = parseDuration(text);
    if (timeout === undefined) return;
    this.setAttemptEnd(node, parseTimestamp(at) + timeout);
    this.unsent.set(node, timeout);
  }

  /**
   * Stops the timeout while the node's agent waits for an answer; it continues after the answer.
   * @param at time of the question (ISO 8601)
   */
  pauseForQuestion(node: NodeInstance, at: string): void {
    const end = this.ends.get(node);
    this.clear(node);
    if (end !== undefined) this.left.set(node, Math.max(end - parseTimestamp(at), 0));
    this.startQuestionTimer(node);
  }

  /**
   * Starts the timer of a question's deadline. The deadline counts from the time at which the run itself asks the
   * question.
   */
  startQuestionTimer(node: NodeInstance): void {
    const deadline = questionDeadline(this.nodeOf(node.id), node.openSince);
    if (deadline !== undefined) this.timers.set('question', deadline, node);
  }

  /**
   * Starts or continues a node's timeout when a Message is sent to its agent. The first Message of an attempt restarts
   * the timeout.
   * @param at time of the Message (ISO 8601)
   */
  startTimeout(node: NodeInstance, at: string): void {
    const left = this.left.get(node) ?? this.unsent.get(node);
    if (left === undefined) {
      if (!this.ends.has(node)) this.timers.clear(node);
      return;
    }
    this.clear(node);
    this.setAttemptEnd(node, parseTimestamp(at) + left);
  }

  /** Replaces all timers of a node by one: the node only waits until the time `until`, in milliseconds of the epoch. */
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
  if (onWait?.deadline === undefined || openSince === undefined) return undefined;
  const patience = parseDuration(onWait.deadline);
  return patience && parseTimestamp(openSince) + patience;
}

/** Parses a timestamp to milliseconds of the epoch; 0 if it is invalid. */
export function parseTimestamp(text: string): number {
  return Date.parse(text) || 0;
}

/** Clock and timers that runs use. */
export interface RunClock {
  /** Returns the current time in milliseconds of the epoch. */
  now(): number;
  /**
   * Calls `callback` at a time in milliseconds of the epoch, or soon if the time has passed.
   * @returns a function that cancels the call
   */
  scheduleAt(time: number, callback: () => void): () => void;
}

/** Longest delay of a Node.js timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const SYSTEM_CLOCK: RunClock = {
  now: () => Date.now(),
  scheduleAt(time, callback) {
    const remainingTime = () => Math.max(0, time - Date.now());
    const armTimer = (): NodeJS.Timeout =>
      remainingTime() > LONGEST_TIMER ? setTimeout(rearmTimer, LONGEST_TIMER) : setTimeout(callback, remainingTime());
    const rearmTimer = (): void => {
      timer = armTimer();
    };
    let timer = armTimer();
    return () => clearTimeout(timer);
  },
};

/**
 * The single system timer of a run's execution: it wakes the run at the earliest time at which the run has something to
 * do.
 */
export class RunAlarm {
  private set: { at: number; forget: () => void } | undefined;

  constructor(
    private readonly clock: Pick<RunClock, 'scheduleAt'>,
    private readonly ring: () => void,
  ) {}

  /**
   * Sets the time of the alarm; replaces the previous time.
   * @param at in milliseconds of the epoch; absent: no alarm
   */
  setTo(at: number | undefined): void {
    if (this.set?.at === at) return;
    this.cancelAlarm();
    if (at === undefined) return;
    const ringOnce = (): void => {
      this.set = undefined;
      this.ring();
    };
    this.set = { at, forget: this.clock.scheduleAt(at, ringOnce) };
  }

  cancelAlarm(): void {
    this.set?.forget();
    this.set = undefined;
  }
}
