import { Injectable } from '@nestjs/common';
import {
  type AgentDeclaration,
  AgentExecutor,
  CallChains,
  type CallContext,
  type ChainLink,
  chainMetadata,
  chainOf,
  type ConfigSchema,
  ConversationEntries,
  type NodeProblem,
  type NodeSpec,
  type NodeType,
  type RequestContext,
  UnknownAgent,
} from '#libs/agents';
import { retryWhileDatabaseDown } from '#libs/postgres';
import {
  A2AError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type SendMessageRequest,
  statusUpdate,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { DEEPEST_RUN, WORKFLOW_NAME } from '#libs/workflow-definition';
import { pathAround, runMetadata, runSpanSteps, type WorkflowExecutor } from '#libs/workflow-engine';
import { findRevision, WorkflowStore } from '../storage/workflow-store.js';
import { WorkflowExecutors } from './workflow-executors.js';

const ANY_MODE = ['text/plain', 'application/json', '*/*'];
const REVISION = /^[1-9]\d{0,17}$/;

/** JSON Schema of the config of a `workflow` node. */
export const CHILD_RUN_CONFIG = {
  type: 'object',
  properties: {
    workflow: { type: 'string', pattern: WORKFLOW_NAME.source, description: 'Name of the workflow to run.' },
    revision: {
      type: 'string',
      pattern: REVISION.source,
      description: 'Revision of the workflow; default: the newest when this workflow is saved.',
    },
    body: {
      type: 'object',
      description: 'Alternative to a name: definition of the workflow to run; it may omit its name.',
    },
    inputs: {
      type: 'object',
      description:
        'Inputs by name; default: the answers of the nodes before it. Strings may contain {{references}}, and ${expressions} in language 2.',
    },
  },
  oneOf: [requireMember('workflow'), requireMember('body')],
  dependentRequired: { revision: ['workflow'] },
} satisfies ConfigSchema;

/** Returns the problems of a `workflow` node's config, each as a sentence. */
export function findChildRunProblems({ id, config }: NodeSpec): NodeProblem[] {
  const { workflow, revision, body, inputs } = config;
  const matchesPattern = (value: JsonValue, pattern: RegExp): boolean =>
    typeof value === 'string' && pattern.test(value);
  const wrong: [boolean, string, string?][] = [
    [(workflow === undefined) === (body === undefined), 'must have exactly one of workflow and body'],
    [revision !== undefined && workflow === undefined, 'revision is allowed only with workflow', 'revision'],
    [
      workflow !== undefined && !matchesPattern(workflow, WORKFLOW_NAME),
      'workflow must be the name of a workflow',
      'workflow',
    ],
    [
      revision !== undefined && !matchesPattern(revision, REVISION),
      'revision must be a revision: digits in a string',
      'revision',
    ],
    [body !== undefined && !isJsonObject(body), 'body must be an object', 'body'],
    [inputs !== undefined && !isJsonObject(inputs), 'inputs must be an object', 'inputs'],
  ];
  return wrong
    .filter(([holds]) => holds)
    .map(([, sentence, member]) => ({
      path: member === undefined ? 'config' : `config.${member}`,
      detail: `workflow node "${id}": ${sentence}`,
    }));
}

function requireMember(member: string): JsonObject {
  return { properties: { [member]: true }, required: [member] };
}

/**
 * Node type `workflow`: runs the saved workflow that its config names, or its inline workflow. The Task of the node is
 * the run of that workflow.
 */
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

/** Returns the name and revision of the workflow that a node runs; `undefined` if its config names no revision. */
function readChildWorkflow({ id, config, of }: NodeSpec): ChildWorkflow | undefined {
  const { workflow, revision } = config;
  if (workflow === undefined) return of && { workflow: `${of.workflow}.${id}`, revision: of.revision };
  if (typeof workflow !== 'string' || typeof revision !== 'string') return undefined;
  return { workflow, revision };
}

/** Executes the Tasks of a `workflow` node as runs of another workflow. After a crash they resume like any run. */
class ChildRunExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  /**
   * Maximum time that a cancel waits for the run to end, in milliseconds. It is the same for all workflows: the longest
   * `WorkflowExecutor.cancelGrace`.
   */
  override readonly cancelGrace = 25_000;
  override readonly spanOperation = 'invoke_workflow';
  override readonly spanSteps = runSpanSteps;
  override readonly declares: AgentDeclaration;

  /** @param executorFor returns the child's executor in a tenant; `undefined` if the child's revision does not exist */
  constructor(
    private readonly child: ChildWorkflow | undefined,
    private readonly chains: CallChains,
    private readonly executorFor: (tenant: string) => Promise<WorkflowExecutor | undefined>,
  ) {
    super();
    // The first nodes of the run get what they read; other files become a line for them.
    this.declares = { does: 'Runs a workflow, and answers with its result.', inputModes: [...ANY_MODE] };
  }

  override async checkRequest(request: SendMessageRequest, { scope }: CallContext): Promise<void> {
    if (request.message.taskId === undefined) this.assertDepthAllowed(chainOf(request));
    const executor = await this.executorFor(scope.tenant);
    if (!executor) throw new UnknownAgent(this.missing, 'AGENT_NOT_FOUND', { ...this.child });
    await executor.checkRequest(request);
  }

  /**
   * Returns the metadata of the Task. The inputs are not included, because the child run reads them from the Message.
   */
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
   * Rejects a run that would be nested more than `DEEPEST_RUN` levels deep.
   * @throws A2AError UNSUPPORTED_OPERATION with the reason `DEPTH_EXCEEDED`
   */
  private assertDepthAllowed(links: readonly ChainLink[]): void {
    if (this.chains.ownCalls(links).filter(isCallOfNode).length <= DEEPEST_RUN) return;
    const message = `DEPTH_EXCEEDED: ${DEEPEST_RUN} runs are nested already`;
    throw new A2AError('UNSUPPORTED_OPERATION', { message, detailReason: 'DEPTH_EXCEEDED' });
  }
}

/** True if this call in a call chain was made by a workflow to one of its own nodes. */
function isCallOfNode({ caller, called }: ReturnType<CallChains['ownCalls']>[number]): boolean {
  const [, path = ''] = /\/a2a\/(.+)$/.exec(called) ?? [];
  return pathAround(path) === caller;
}
