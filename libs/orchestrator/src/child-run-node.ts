import { Injectable } from '@nestjs/common';
import {
  type AgentDeclaration,
  AgentExecutor,
  type CallContext,
  CallChains,
  type ChainLink,
  chainMetadata,
  chainOf,
  ConversationEntries,
  type NodeProblem,
  type NodeSpec,
  type NodeType,
  type RequestContext,
  UnknownAgent,
} from '#libs/executor';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { A2AError, type JsonObject, type SendMessageRequest, statusUpdate } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { CHILD_RUN_CONFIG, findChildRunProblems } from './child-run-config.js';
import { findRevision } from './inline-workflow.js';
import { pathAround } from './node-address.js';
import { DEEPEST_RUN } from './run-levels.js';
import { runMetadata } from './run-metadata.js';
import { runSpanSteps } from './run-spans.js';
import type { WorkflowExecutor } from './workflow-executor.js';
import { WorkflowExecutors } from './workflow-executors.js';
import { WorkflowStore } from './workflow-store.js';

/** Node type `workflow`: runs the workflow that it names, or its inline workflow. Its Task is that run. */
@Injectable()
export class ChildRunNode implements NodeType {
  readonly name = 'workflow';
  readonly configSchema = CHILD_RUN_CONFIG;

  constructor(
    private readonly store: WorkflowStore,
    private readonly executors: WorkflowExecutors,
    private readonly chains: CallChains,
  ) {}

  findProblems(node: NodeSpec): NodeProblem[] {
    return findChildRunProblems(node);
  }

  createExecutor(node: NodeSpec): AgentExecutor {
    const child = readChildWorkflow(node);
    return new ChildRunExecutor(child, this.chains, async (tenant) => {
      const revision = child && (await findRevision(this.store.inTenant(tenant), child.workflow, child.revision));
      return revision && this.executors.getExecutor(revision);
    });
  }
}

interface ChildWorkflow {
  workflow: string;
  revision: string;
}

/** Returns the workflow that a node runs; `undefined` if it names none, or no revision of it. */
function readChildWorkflow({ id, config, of }: NodeSpec): ChildWorkflow | undefined {
  const { workflow, revision } = config;
  if (workflow === undefined) return of && { workflow: `${of.workflow}.${id}`, revision: of.revision };
  if (typeof workflow !== 'string' || typeof revision !== 'string') return undefined;
  return { workflow, revision };
}

/** Executes Tasks of a node as runs of another workflow. After a crash they resume like any run. */
class ChildRunExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  /** Milliseconds; the longest grace of any workflow. */
  override readonly cancelGrace = 25_000;
  override readonly spanOperation = 'invoke_workflow';
  override readonly spanSteps = runSpanSteps;
  override readonly declares: AgentDeclaration;

  /** @param executorFor returns the executor for a tenant; `undefined` if the child's revision does not exist */
  constructor(
    private readonly child: ChildWorkflow | undefined,
    private readonly chains: CallChains,
    private readonly executorFor: (tenant: string) => Promise<WorkflowExecutor | undefined>,
  ) {
    super();
    this.declares = { does: 'Runs a workflow, and answers with its result.' };
  }

  override async checkRequest(request: SendMessageRequest, { scope }: CallContext): Promise<void> {
    if (request.message.taskId === undefined) this.assertDepthAllowed(chainOf(request));
    const executor = await this.executorFor(scope.tenant);
    if (!executor) throw new UnknownAgent(this.missing, 'AGENT_NOT_FOUND', { ...this.child });
    await executor.checkRequest(request);
  }

  /** Returns metadata without the inputs: the child's definition reads those from the Message. */
  override taskMetadata(request: SendMessageRequest, { scope }: Pick<CallContext, 'scope'>): JsonObject {
    const entry = new ConversationEntries(this.chains).entryMetadata(request.message, scope);
    return { ...(this.child && runMetadata(this.child)), ...entry, ...chainMetadata(chainOf(request)) };
  }

  override async *execute(context: RequestContext): AsyncIterable<TaskEvent> {
    const { tenant } = context.call.scope;
    const executor = await retryWhileDatabaseDown(() => this.executorFor(tenant), context.signal);
    if (executor) yield* executor.execute(context);
    else yield statusUpdate(context, 'TASK_STATE_FAILED', `Error: ${this.missing}`);
  }

  private get missing(): string {
    const { child } = this;
    return child ? `revision ${child.revision} of workflow "${child.workflow}" not found` : 'it names no revision';
  }

  /**
   * Rejects a run that would be nested too deeply.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `DEPTH_EXCEEDED`
   */
  private assertDepthAllowed(links: readonly ChainLink[]): void {
    if (this.chains.ownCalls(links).filter(isCallOfNode).length <= DEEPEST_RUN) return;
    const message = `DEPTH_EXCEEDED: ${DEEPEST_RUN} runs lie in each other already`;
    throw new A2AError('UNSUPPORTED_OPERATION', { message, detailReason: 'DEPTH_EXCEEDED' });
  }
}

/** True if a run has called a node of its own workflow. */
function isCallOfNode({ caller, called }: ReturnType<CallChains['ownCalls']>[number]): boolean {
  const [, path = ''] = /\/a2a\/(.+)$/.exec(called) ?? [];
  return pathAround(path) === caller;
}
