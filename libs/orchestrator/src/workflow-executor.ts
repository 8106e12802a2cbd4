import { AgentExecutor, hopMetadata, hopsOf, keptHops, type RequestContext } from '#libs/executor';
import { A2AError, ContentTooLarge, type JsonObject, type SendMessageRequest, submittedTask } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { InputRules } from './input-rules.js';
import { failedEvents } from './run-ending.js';
import { inputsOf, refuseLargeInputs } from './run-inputs.js';
import { runMetadata } from './run-metadata.js';
import type { RunServices } from './run-services.js';
import { logFailure } from './run-failure-log.js';
import { RunState } from './run-state.js';
import type { WorkflowRevision } from './workflow.js';
import { WorkflowRun } from './workflow-run.js';

/**
 * One revision of a workflow as an agent: its Task is a run. A restarted run goes on from its log; finished nodes are
 * never run again.
 */
export class WorkflowExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  /** Time for the children to be canceled. */
  override readonly cancelGrace = 10_000;
  private inputs: InputRules | undefined;

  constructor(
    private readonly workflow: WorkflowRevision,
    private readonly services: RunServices,
  ) {
    super();
  }

  override taskMetadata(request: SendMessageRequest): JsonObject {
    const { definition, revision } = this.workflow;
    const run = runMetadata({ workflow: definition.name, revision, inputs: inputsOf(request.message, definition) });
    return { ...run, ...hopMetadata(hopsOf(request)) };
  }

  override check(request: SendMessageRequest): void {
    const { definition } = this.workflow;
    this.services.hops.refuseReentry(`workflows/${definition.name}`, hopsOf(request));
    try {
      refuseLargeInputs(request.message, definition, this.services.content.artifact);
    } catch (error) {
      if (!(error instanceof ContentTooLarge)) throw error;
      throw new A2AError('INVALID_PARAMS', { message: `The message is too large: ${error.message}` });
    }
    if (request.message.taskId === undefined) this.inputRules.check(request.message);
  }

  private get inputRules(): InputRules {
    this.inputs ??= new InputRules(this.workflow.definition);
    return this.inputs;
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const { definition, revision } = this.workflow;
    const log = await logOf(context);
    const state = RunState.of(definition, log);
    const hops = isNew(context) ? hopsOf(requestOf(context)) : keptHops(metadataOf(log));
    const { fault } = state.graph;
    if (fault) {
      logFailure(context.taskId, state, fault.message);
      yield* failedEvents(context, state, fault.message);
    } else yield* new WorkflowRun(this.services, { context, state, revision, hops }).events();
  }
}

/** A new run's log needs no reading: it is its first Message. */
async function logOf(context: RequestContext): Promise<readonly TaskEvent[]> {
  return isNew(context) ? [{ task: submittedTask(context, context.userMessage) }] : context.log();
}

function isNew(context: RequestContext): boolean {
  return context.task === null && context.recovered === 0;
}

function requestOf({ userMessage, metadata }: RequestContext): SendMessageRequest {
  return { message: userMessage, ...(metadata && { metadata }) };
}

/** A turn after the first, and one that is recovered, knows the first request's metadata from the Task. */
function metadataOf([first]: readonly TaskEvent[]): JsonObject | undefined {
  return first && 'task' in first ? first.task.metadata : undefined;
}
