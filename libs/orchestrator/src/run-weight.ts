import { heapBytes, type TaskEvent } from '#libs/tasks';
import type { NodeInstance } from './node-run.js';
import type { RunState } from './run-state.js';

/** Heap bytes of a node's instance without its content, including its place in the plan. */
const HEAP_PER_INSTANCE = 2 * 1024;

/**
 * Estimates the heap bytes of run states, rather too high. Each value is weighed once, because logged values do not
 * change. So a continued run costs its new values and a visit of each instance.
 */
export class RunWeights {
  private readonly known = new WeakMap<object, number>();

  /** Returns the heap bytes of a run's state. @param first event of the log */
  weighRun(state: RunState, first: TaskEvent | undefined): number {
    const { inputs, text = '', received, results, error, children } = state;
    let weight = this.ofAll([inputs, received, first, error, ...results, ...(children ?? [])]) + heapBytes(text);
    for (const node of state.instances.values()) weight += HEAP_PER_INSTANCE + this.ofNode(node);
    return weight;
  }

  private ofNode({ artifacts, question, answered, answer, asks, refused, failure, error, each }: NodeInstance): number {
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
