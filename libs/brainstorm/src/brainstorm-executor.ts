import { type CallContext, chainOf, type ServedAgent, type SpanStep } from '#libs/agents';
import { ProcessExecutor, type ProcessStart } from '#libs/durable';
import { A2AError, type JsonObject, type SendMessageRequest } from '#libs/protocol';
import { noteOf, type TaskEvent } from '#libs/tasks';
import type { BrainstormEnding } from './brainstorm-ending.js';
import { BrainstormRun, type BrainstormServices } from './brainstorm-run.js';
import { type BrainstormSpec, specIn, specMetadata } from './brainstorm-spec.js';
import type { AgentTurnPlace, BrainstormStepPayloads } from './brainstorm-steps.js';

/** Returns the span steps of an event of a brainstorm's log: the begin or the end of an agent's call. */
export function brainstormSpanSteps(event: TaskEvent): readonly SpanStep[] {
  const note = noteOf(event);
  if (note?.type === 'agent.started') return [startSpanStep(note.payload as unknown as AgentStarted)];
  if (!note || !(note.type in ENDS)) return [];
  const slot = slotOf(note.payload as unknown as AgentTurnPlace);
  const error = ENDS[note.type];
  return [{ ends: { slot, ...(error !== undefined && { error }) } }];
}

type AgentStarted = BrainstormStepPayloads['agent.started'];

/** Error of a call's span, for each event that ends the call of an agent; `undefined` for a success. */
const ENDS: Readonly<Record<string, string | undefined>> = {
  'agent.completed': undefined,
  'agent.rejected': 'rejected',
  'agent.error': 'failed',
};

function startSpanStep(payload: AgentStarted): SpanStep {
  const { agent, role, iteration, messageId } = payload;
  const attributes = {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'parley.role': role,
    'parley.iteration': iteration,
  };
  const key = ['call', messageId];
  return { begins: { slot: slotOf(payload), key, name: `invoke_agent ${agent}`, kind: 'client', attributes } };
}

function slotOf({ iteration, position }: AgentTurnPlace): string {
  return `${iteration}/${position}`;
}

/**
 * Executes a brainstorm as an agent: its Task runs passes until they converge. Neither a merged pass nor a recorded
 * answer of an agent is repeated.
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

  /** Refuses a Message if a call of this same agent led to it, since the brainstorm would then call itself. */
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

/** Path of the agent whose Tasks are the brainstorms of the management API. */
export const BRAINSTORM_PATH = 'brainstorms';

/** Agent behind `/api/brainstorms`. A brainstorm that has converged or failed awaits input; a Message continues it. */
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

/**
 * Executor for brainstorms of the management API. The API validates each request and starts the Task itself; over A2A
 * only Messages to existing brainstorms are accepted.
 */
class SettledBrainstormExecutor extends BrainstormExecutor {
  override async checkRequest({ message }: SendMessageRequest): Promise<void> {
    if (message.taskId !== undefined) return;
    throw new A2AError('UNSUPPORTED_OPERATION', { message: 'A brainstorm is begun with POST /api/brainstorms' });
  }
}
