import { AgentExecutor, type NodeSpec, type RequestContext } from '#libs/executor';
import {
  artifactUpdate,
  failedUpdate,
  type JsonObject,
  type Part,
  runEventMetadata,
  statusUpdate,
} from '#libs/protocol';
import { NodeFailure } from './node-failure.js';

/** Event that a node yields for its own Task. */
export type NodeEvent = (ReturnType<typeof statusUpdate> & { parks?: Date }) | ReturnType<typeof artifactUpdate>;

/** Events of a node's work. It returns the node's output, or `undefined` if it has ended the turn itself. */
export type NodeWork = AsyncGenerator<NodeEvent, Part[] | undefined, void>;

/**
 * Runs a node's work and ends its Task: WORKING, one Artifact named by the node, and COMPLETED with the same Parts; or
 * FAILED with `Error: …`. After a crash the work runs again and recorded events are skipped, so a subclass that
 * restarts must yield the same events each time.
 */
export abstract class NodeExecutor extends AgentExecutor {
  constructor(protected readonly node: NodeSpec) {
    super();
  }

  override execute(context: RequestContext): AsyncIterable<NodeEvent> {
    return context.recovered === 0 ? this.#runEvents(context) : this.#runRemaining(context);
  }

  /** @throws NodeFailure if the caller may know the reason */
  protected abstract performWork(context: RequestContext): NodeWork;

  async *#runRemaining(context: RequestContext): AsyncIterable<NodeEvent> {
    let position = 0;
    for await (const event of this.#runEvents(context)) {
      position += 1;
      if (position > context.recovered) yield event;
    }
  }

  async *#runEvents(context: RequestContext): AsyncIterable<NodeEvent> {
    if (context.task === null) yield statusUpdate(context, 'TASK_STATE_WORKING');
    try {
      const parts = yield* this.performWork(context);
      if (parts === undefined) return;
      yield artifactUpdate(context, { artifactId: this.node.id, name: this.node.id, parts }, { lastChunk: true });
      yield statusUpdate(context, 'TASK_STATE_COMPLETED', parts);
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error;
      yield failedUpdate(context, `Error: ${error.message}`, error.note);
    }
  }
}

/** Returns an event for a step of a node's work, as run events have it (`model.request`, `tool.call`, …). */
export function workStep(context: RequestContext, type: string, payload: JsonObject): NodeEvent {
  return statusUpdate(context, 'TASK_STATE_WORKING', undefined, runEventMetadata({ type, payload }));
}
