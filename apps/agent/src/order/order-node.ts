import { AgentExecutor, type NodeSpec, type RequestContext } from '#libs/executor';
import { ModelError, type Models } from '#libs/models';
import type { NodeType } from '#libs/nodes';
import { artifactUpdate, dataPart, type JsonObject, statusUpdate, textPart } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { OrderTaker } from './order-taker.js';

/**
 * Node type `order`: an agent that takes an order over several turns. It asks for missing parts. All state is in its
 * Task.
 */
export class OrderNode implements NodeType {
  readonly name = 'order';

  /** @param models absent for an agent that works by rules */
  constructor(private readonly models?: Models) {}

  findProblems(): string[] {
    return [];
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    return new OrderExecutor(node, new OrderTaker(this.models));
  }
}

class OrderExecutor extends AgentExecutor {
  override readonly recovery = 'restart';

  constructor(
    private readonly node: NodeSpec,
    private readonly taker: OrderTaker,
  ) {
    super();
  }

  /** Executes a turn. The Task's history has what the guest said; no other state is stored. */
  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    if (context.recovered === 0) yield statusUpdate(context, 'TASK_STATE_WORKING');
    try {
      const said = [...(context.task?.history ?? []), context.userMessage];
      const { say, order, complete } = await this.taker.answerGuest(said, context.signal);
      if (!complete) return yield statusUpdate(context, 'TASK_STATE_INPUT_REQUIRED', say);
      const parts = [textPart(say), dataPart({ ...order } as JsonObject)];
      yield artifactUpdate(context, { artifactId: this.node.id, name: 'order', parts }, { lastChunk: true });
      yield statusUpdate(context, 'TASK_STATE_COMPLETED', say);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      yield statusUpdate(context, 'TASK_STATE_FAILED', `Error: ${error.message}`);
    }
  }
}
