import type { JsonObject, RunEventNote } from '#libs/protocol';
import type { NodeInstance } from './node-run.js';
import type { RunEventType } from './run-event-type.js';
import type { RunFacts } from './run-facts.js';

export type Fold<P> = (run: RunFacts, payload: P, at: string) => void;
export type NodeFold<P> = (node: NodeInstance, payload: P, at: string, run: RunFacts) => void;

/** A kind of step: its event, and the effect of the event on a folded run. */
export class RunStep<P extends object> {
  constructor(
    readonly type: RunEventType,
    readonly fold: Fold<P>,
  ) {}

  createNote(payload: P): RunEventNote {
    return { type: this.type, payload: { ...payload } as unknown as JsonObject };
  }
}

/** A step of one node. */
export class NodeStep<P extends object> {
  constructor(
    readonly type: RunEventType,
    readonly fold: NodeFold<P>,
  ) {}

  createNote(node: { id: string; type: string; instance?: string }, payload: P): RunEventNote {
    return {
      type: this.type,
      node_id: node.id,
      node_type: node.type,
      ...(node.instance !== undefined && node.instance !== node.id && { instance: node.instance }),
      payload: { ...payload } as unknown as JsonObject,
    };
  }
}
