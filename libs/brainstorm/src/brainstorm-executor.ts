import { type CallContext, chainOf } from '#libs/executor';
import { ProcessExecutor, type ProcessStart } from '#libs/process';
import type { JsonObject, SendMessageRequest } from '#libs/protocol';
import type { BrainstormEnding } from './brainstorm-ending.js';
import { BrainstormRun } from './brainstorm-run.js';
import type { BrainstormServices } from './brainstorm-services.js';
import { brainstormSpanSteps } from './brainstorm-spans.js';
import { type BrainstormSpec, specMetadata } from './brainstorm-spec.js';

/**
 * Brainstorm as an agent: its Task runs passes until they converge. Neither a merged pass nor an agent's answer is
 * repeated.
 */
export class BrainstormExecutor extends ProcessExecutor {
  override readonly spanSteps = brainstormSpanSteps;

  constructor(
    private readonly services: BrainstormServices,
    private readonly ending: BrainstormEnding,
    private readonly specOf: (request: SendMessageRequest) => BrainstormSpec,
  ) {
    super();
  }

  /** Refuses a Message that results from a call of this very agent. */
  override async checkRequest(request: SendMessageRequest, { agent }: CallContext): Promise<void> {
    this.services.chains.refuseReentry(agent, chainOf(request));
  }

  protected override describeRequest(request: SendMessageRequest): JsonObject {
    return specMetadata(this.specOf(request));
  }

  protected override beginProcess(start: ProcessStart): BrainstormRun {
    return new BrainstormRun(this.services, start, this.ending);
  }
}
