import { heapBytes, type TaskEvent } from '#libs/tasks';
import type { NodeRun } from './node-run.js';
import type { RunState } from './run-state.js';

/** Bytes of the heap of an instance of a node beside what agents and people said: the run and its plan know it. */
const HEAP_PER_INSTANCE = 2 * 1024;

/**
 * Weighs the states of runs in bytes of the heap, rather too many. A value is weighed once: nothing changes what a log said,
 * so a run that goes on costs what is new and a look at each instance.
 */
export class RunWeights {
  private readonly known = new WeakMap<object, number>();

  /** @param first the event that begins the log */
  of(state: RunState, first: TaskEvent | undefined): number {
    const { inputs, text = '', received, results, error, children } = state;
    let weight = this.ofAll([inputs, received, first, error, ...results, ...(children ?? [])]) + heapBytes(text);
    for (const node of state.instances.values()) weight += HEAP_PER_INSTANCE + this.ofNode(node);
    return weight;
  }

  private ofNode({ artifacts, question, answered, answer, asks, refused, failure, error, each }: NodeRun): number {
    const texts = error === undefined ? 0 : heapBytes(error);
    return texts + this.ofAll([...artifacts, question, answered, answer, asks, refused, failure, each?.items]);
  }

  private ofAll(values: readonly (object | undefined)[]): number {
    return values.reduce((sum: number, value) => sum + (value ? this.ofValue(value) : 0), 0);
  }

  private ofValue(value: object): number {
    const known = this.known.get(value);
    if (known !== undefined) return known;
    const weight = heapBytes(value);
    this.known.set(value, weight);
    return weight;
  }
}
