import { type CallContext, chainOf, ConversationEntries, type RequestContext } from '#libs/executor';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { linksOf, type DurableExecution, ProcessExecutor, type ProcessStart, type ProcessState } from '#libs/process';
import { A2AError, ContentTooLarge, type JsonObject, type SendMessageRequest } from '#libs/protocol';
import { InputRules } from './input-rules.js';
import { mayReadBytes } from './plain-definition.js';
import { workflowPath } from './node-address.js';
import type { RerunOrigin } from './rerun/rerun-origins.js';
import { readRerunRequest, rerunMetadata } from './rerun/rerun-request.js';
import { refuseUnasked } from './named-answer.js';
import { inputsOf, refuseLargeInputs } from './run-inputs.js';
import { runMetadata } from './run-metadata.js';
import type { RunServices } from './run-services.js';
import { runSpanSteps } from './run-spans.js';
import type { RunStart } from './run-folds.js';
import { RunState } from './run-state.js';
import type { WorkflowRevision } from './workflow.js';
import { WorkflowRun } from './workflow-run.js';

/** A revision of a workflow as an agent: its Task is a run. Finished nodes are never run again. */
export class WorkflowExecutor extends ProcessExecutor {
  /** Milliseconds for a cancel, longer with `onExit` nodes: these alone have ten seconds. */
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

  override checkRequest(request: SendMessageRequest): void | Promise<void> {
    const { definition } = this.workflow;
    this.services.chains.refuseReentry(workflowPath(definition.name), chainOf(request));
    try {
      refuseLargeInputs(request.message, definition, this.services.content.artifact);
    } catch (error) {
      if (!(error instanceof ContentTooLarge)) throw error;
      throw new A2AError('INVALID_PARAMS', { message: `The message is too large: ${error.message}` });
    }
    if (request.message.taskId !== undefined) return refuseUnasked(request.message, definition, this.services);
    this.inputRules.checkInputs(request.message);
  }

  protected override describeRequest(
    { message, metadata }: SendMessageRequest,
    { scope }: Pick<CallContext, 'scope'>,
  ): JsonObject {
    const { definition, revision } = this.workflow;
    const rerun = readRerunRequest(metadata);
    return {
      ...runMetadata({ workflow: definition.name, revision, inputs: inputsOf(message, definition) }),
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

  /** Returns the run from which this one reuses results, if it belongs to the same caller. */
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
