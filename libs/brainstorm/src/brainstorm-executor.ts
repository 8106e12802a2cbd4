import { AgentExecutor, type CallContext, hopMetadata, hopsOf, keptHops, type RequestContext } from '#libs/executor';
import type { JsonObject, SendMessageRequest } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { BrainstormEnding } from './brainstorm-ending.js';
import { BrainstormProgress } from './brainstorm-progress.js';
import { BrainstormRun } from './brainstorm-run.js';
import type { BrainstormServices } from './brainstorm-services.js';
import { type BrainstormSpec, specMetadata } from './brainstorm-spec.js';

/**
 * A brainstorm as an agent: its Task goes through passes until they converge. A restarted one goes on from its log: a
 * pass that is merged stays so, and an agent that has answered is not asked again.
 */
export class BrainstormExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  /** Time for the agent at work to be canceled. */
  override readonly cancelGrace = 10_000;

  constructor(
    private readonly services: BrainstormServices,
    private readonly ending: BrainstormEnding,
    private readonly specOf: (request: SendMessageRequest) => BrainstormSpec,
  ) {
    super();
  }

  override taskMetadata(request: SendMessageRequest): JsonObject {
    return { ...specMetadata(this.specOf(request)), ...hopMetadata(hopsOf(request)) };
  }

  /** Refuses a Message that its own call has led to. */
  override async check(request: SendMessageRequest, { agent }: CallContext): Promise<void> {
    this.services.hops.refuseReentry(agent, hopsOf(request));
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const log = await context.log();
    const [first] = log;
    const hops = keptHops(first && 'task' in first ? first.task.metadata : undefined);
    const progress = BrainstormProgress.of(log);
    yield* new BrainstormRun(this.services, { context, progress, ending: this.ending, hops }).events();
  }
}
