import { type CallContext, chainOf, ConversationEntries, type RequestContext, type SpanStep } from '#libs/agents';
import { type DurableExecution, linksOf, ProcessExecutor, type ProcessStart, type ProcessState } from '#libs/durable';
import { retryWhileDatabaseDown } from '#libs/postgres';
import {
  A2AError,
  callersMetadata,
  ContentTooLarge,
  invalidParams,
  isJsonObject,
  isWaitingState,
  type JsonObject,
  type JsonValue,
  type Message,
  type RunEventNote,
  type SendMessageRequest,
} from '#libs/protocol';
import { noteOf, type TaskEvent, type TaskStore } from '#libs/tasks';
import {
  InputRules,
  inputsOf,
  mayReadBytes,
  MOST_PROMPT_BYTES,
  refuseLargeInputs,
  type WorkflowDefinition,
  type WorkflowRevision,
} from '#libs/workflow-definition';
import { parseInstance } from '../rerun/reused-results.js';
import { readNodeId } from '../state/node-instance.js';
import { hasRequestedBudget, readRerunRequest, RERUN_KEY, rerunMetadata, runMetadata } from '../state/run-metadata.js';
import { namedNode, NODE_KEY } from '../state/run-questions.js';
import { RunState } from '../state/run-state.js';
import { workflowPath } from './node-dispatch.js';
import { requestedBudget } from './run-budget.js';
import type { RerunOrigin, RunFolds, RunServices, RunStart } from './run-services.js';
import { WorkflowRun } from './workflow-run.js';

const FIELD = `message.metadata.${NODE_KEY}`;
const EDIT = `metadata.${RERUN_KEY}.edit`;

/**
 * Rejects a Message to a waiting run if its metadata name a node that asks no question. Otherwise the run would ignore
 * the Message without a report to the caller. Messages to runs that accept no Message are rejected elsewhere.
 * @throws A2AError INVALID_PARAMS with a violation for `message.metadata.node`
 */
export async function refuseUnasked(
  { taskId = '', metadata }: Message,
  definition: WorkflowDefinition,
  { tasks, folds }: { tasks: Pick<TaskStore, 'readHeaders'>; folds: Pick<RunFolds, 'readRunState'> },
): Promise<void> {
  const name = metadata?.[NODE_KEY];
  if (name === undefined) return;
  const header = (await tasks.readHeaders([taskId])).get(taskId);
  if (!header || !isWaitingState(header.state)) return;
  const state = await folds.readRunState(header, definition);
  if (namedNode(state.frontier.waiting, name).length > 0) return;
  throw invalidParams({ field: FIELD, description: whatIsWrong(name, state) });
}

function whatIsWrong(name: JsonValue, state: RunState): string {
  if (typeof name !== 'string') return 'must be the name of a node';
  const isKnown = state.findInstance(name) ?? state.nodes.get(readNodeId(name));
  return isKnown ? 'names a node without an open question' : 'must be a node of the run';
}

/**
 * Rejects an edited prompt that is not for an agent node, or is too long: callers can send the metadata of a rerun with
 * any Message, not only by the API of reruns.
 * @throws A2AError INVALID_PARAMS with a violation for the member of the metadata
 */
export function refuseWrongEdit(metadata: JsonObject | undefined, { nodes }: WorkflowDefinition): void {
  const edit = readRerunRequest(metadata)?.edit;
  if (!edit) return;
  const id = parseInstance(edit.node)?.id;
  if (nodes.find((node) => node.id === id)?.type !== 'agent')
    throw invalidParams({ field: `${EDIT}.node`, description: 'must be an agent node of the workflow' });
  if (edit.prompt.trim() === '' || Buffer.byteLength(edit.prompt) > MOST_PROMPT_BYTES)
    throw invalidParams({ field: `${EDIT}.prompt`, description: `must be a text of 1 to ${MOST_PROMPT_BYTES} bytes` });
}

/**
 * Returns the trace span that an event of a run's log begins or ends, if any. Model and tool spans come from the logs
 * of the nodes.
 */
export function runSpanSteps(event: TaskEvent): readonly SpanStep[] {
  const note = noteOf(event);
  if (note?.node_id === undefined) return NONE;
  const step = STEPS[note.type]?.(note);
  return step ? [step] : NONE;
}

const NONE: readonly SpanStep[] = [];

const STEPS: Readonly<Record<string, (note: RunEventNote) => SpanStep | undefined>> = {
  'a2a.sending': (note) => {
    const { node_id: node = '', node_type: type = '', payload } = note;
    const { messageId } = payload;
    if (typeof messageId !== 'string') return undefined;
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': node,
      'parley.node.type': type,
      ...(note.instance !== undefined && { 'parley.node.instance': note.instance }),
    };
    const name = `invoke_agent ${node}`;
    return { begins: { slot: slotOf(note), key: ['call', messageId], name, kind: 'client', attributes } };
  },
  // A question ends the span, because its answer is another call.
  'a2a.received': (note) => (note.payload['question'] === undefined ? undefined : { ends: { slot: slotOf(note) } }),
  'node.completed': (note) => ({ ends: { slot: slotOf(note) } }),
  'node.canceled': (note) => ({ ends: { slot: slotOf(note), attributes: { 'parley.canceled': true } } }),
  'node.error': failedStep,
  'node.retrying': failedStep,
};

function failedStep(note: RunEventNote): SpanStep {
  const { failure } = note.payload;
  const kind = isJsonObject(failure) && typeof failure['kind'] === 'string' ? failure['kind'] : 'failed';
  return { ends: { slot: slotOf(note), error: kind } };
}

function slotOf({ node_id: node = '', instance = node }: RunEventNote): string {
  return instance;
}

/** Executor of one revision of a workflow. Its Tasks are runs. A recovered run never repeats finished nodes. */
export class WorkflowExecutor extends ProcessExecutor {
  /**
   * Maximum time for the cancel of a run, in milliseconds. It is longer with `onExit` nodes, which may take ten
   * seconds.
   */
  override readonly cancelGrace: number;
  override readonly spanOperation = 'invoke_workflow';
  override readonly spanSteps = runSpanSteps;
  private inputs: InputRules | undefined;

  constructor(
    private readonly workflow: WorkflowRevision,
    private readonly services: RunServices,
  ) {
    super();
    this.cancelGrace = (workflow.definition.onExit?.length ?? 0) > 0 ? 25_000 : 10_000;
  }

  override get keepsBytes(): boolean {
    return mayReadBytes(this.workflow.definition);
  }

  override checkRequest(
    request: SendMessageRequest,
    { namesInputs }: Pick<CallContext, 'namesInputs'> = {},
  ): void | Promise<void> {
    const { definition } = this.workflow;
    this.services.chains.refuseReentry(workflowPath(definition.name), chainOf(request));
    try {
      refuseLargeInputs(request.message, definition, this.services.content.artifact);
    } catch (error) {
      if (!(error instanceof ContentTooLarge)) throw error;
      throw new A2AError('INVALID_PARAMS', { message: `The message is too large: ${error.message}` });
    }
    if (request.message.taskId !== undefined) return refuseUnasked(request.message, definition, this.services);
    refuseWrongEdit(request.metadata, definition);
    if (hasRequestedBudget(request.metadata)) requestedBudget(request.metadata);
    this.inputRules.checkInputs(request.message, namesInputs);
  }

  protected override describeRequest(
    { message, metadata }: SendMessageRequest,
    { scope }: Pick<CallContext, 'scope'>,
  ): JsonObject {
    const { definition, revision } = this.workflow;
    const rerun = readRerunRequest(metadata);
    const callers = definition.nodes.some(({ type }) => type === 'external') ? callersMetadata(metadata) : undefined;
    const inputs = inputsOf(message, definition);
    const budget = hasRequestedBudget(metadata) ? requestedBudget(metadata) : undefined;
    const given = { ...(callers && { request: callers }), ...(budget && { budget }) };
    return {
      ...runMetadata({ workflow: definition.name, revision, inputs, ...given }),
      ...(rerun && rerunMetadata(rerun)),
      ...new ConversationEntries(this.services.chains).entryMetadata(message, scope),
    };
  }

  protected override async openProcess(context: RequestContext): Promise<DurableExecution<ProcessState>> {
    const fold = await this.services.folds.takeFold(context, this.workflow.definition);
    return fold ? this.resumeRun({ context, links: linksOf(fold.first), fold }) : super.openProcess(context);
  }

  protected override beginProcess({ context, log, links }: ProcessStart): Promise<WorkflowRun> {
    const state = RunState.fromEvents(this.workflow.definition, log);
    return this.resumeRun({ context, links, fold: { state, first: log[0] } });
  }

  private async resumeRun(start: RunStart): Promise<WorkflowRun> {
    return new WorkflowRun(this.services, start, this.workflow, await this.readRerunOrigin(start));
  }

  /**
   * Returns the original run of a rerun; `undefined` if the run reuses no results, or the caller may not read the
   * original.
   */
  private async readRerunOrigin({ context, fold: { first } }: RunStart): Promise<RerunOrigin | undefined> {
    const rerun = first && 'task' in first ? readRerunRequest(first.task.metadata) : undefined;
    if (rerun === undefined || rerun.all) return undefined;
    const { signal, call } = context;
    return retryWhileDatabaseDown(() => this.services.origins.findOrigin(rerun.origin, call.scope), signal);
  }

  private get inputRules(): InputRules {
    this.inputs ??= new InputRules(this.workflow.definition);
    return this.inputs;
  }
}
