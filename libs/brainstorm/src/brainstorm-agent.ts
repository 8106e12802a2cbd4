import type { ServedAgent } from '#libs/executor';
import { A2AError, type SendMessageRequest } from '#libs/protocol';
import { BrainstormExecutor } from './brainstorm-executor.js';
import type { BrainstormServices } from './brainstorm-services.js';
import { specIn } from './brainstorm-spec.js';

/** Path of the agent whose Tasks are the brainstorms of the management API. */
export const BRAINSTORM_PATH = 'brainstorms';

/** Agent behind `/api/brainstorms`. A brainstorm that has converged or failed awaits input, with which it continues. */
export class BrainstormAgent implements ServedAgent {
  readonly path = BRAINSTORM_PATH;
  readonly name = 'brainstorm';
  readonly description = 'Develops an idea with several agents, each in its role, until they agree';
  readonly version = '1';
  readonly skills = [{ id: 'brainstorm', name: 'brainstorm', description: this.description, tags: ['brainstorm'] }];
  readonly inputModes = ['application/json', 'text/plain'];
  readonly outputModes = ['application/json', 'text/plain'];
  readonly executor: BrainstormExecutor;

  constructor(services: BrainstormServices) {
    const awaitsInput = 'TASK_STATE_INPUT_REQUIRED';
    const ending = { artifactId: 'state', converged: awaitsInput, failed: awaitsInput } as const;
    this.executor = new SettledBrainstormExecutor(services, ending, ({ metadata }) => specIn(metadata));
  }
}

/** Executor for brainstorms of the management API, which validates the request and starts its Tasks itself. */
class SettledBrainstormExecutor extends BrainstormExecutor {
  override async checkRequest({ message }: SendMessageRequest): Promise<void> {
    if (message.taskId !== undefined) return;
    throw new A2AError('UNSUPPORTED_OPERATION', { message: 'A brainstorm is begun with POST /api/brainstorms' });
  }
}
