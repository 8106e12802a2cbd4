import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import {
  AgentCatalog,
  type CallContext,
  type Execution,
  ExecutionRegistry,
  type ServedAgent,
  UnknownAgent,
} from '#libs/executor';
import { ProblemError } from '#libs/http';
import {
  A2AError,
  dataPart,
  isTerminalState,
  type JsonObject,
  type SendMessageRequest,
  type Task,
  userMessage,
} from '#libs/protocol';
import { begunTask, type StoredTask, type TaskHeader, type TaskScope, TaskStore } from '#libs/tasks';
import { CancelOutcomes } from '../cancel-outcomes.js';
import type { CanceledChild, RunStatus } from '../node-run.js';
import { RunChildStore } from '../run-child-store.js';
import { type NodeDetail, nodeDetail, type RunSource, type RunView, runView } from '../run-view.js';
import type { WorkflowDefinition } from '../workflow.js';
import { WORKFLOW_NAME } from '../workflow-problems.js';
import { WorkflowStore } from '../workflow-store.js';
import { isRun, revisionOf, workflowOf } from './run-task.js';

/** What `POST /api/runs/{id}/cancel` answers. */
export interface CancelReport {
  runId: string;
  status: RunStatus;
  children: CanceledChild[];
}

const RUN_ID = /^[\x21-\x7e]{1,200}$/;

/** Starts, shows and cancels runs. A run is the Task of its workflow's agent; nothing of it is kept elsewhere. */
@Injectable()
export class Runs {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    private readonly workflows: WorkflowStore,
    private readonly children: RunChildStore,
    private readonly cancels: CancelOutcomes,
  ) {}

  /**
   * Resolves with the run's header when the run is durable; it goes on whatever becomes of the caller.
   * @throws ProblemError 404 for an unknown workflow; A2AError 409 for other inputs under a known `Idempotency-Key`
   */
  async start(
    workflow: string,
    inputs: JsonObject,
    { scope, baseUrl }: ApiCall,
    idempotencyKey?: string,
  ): Promise<Pick<TaskHeader, 'taskId' | 'agent'>> {
    const agent = await this.agent(workflow, scope);
    const call = callOf(agent, { scope, baseUrl });
    // Under a key the Message has the key's name, so that the same inputs are the same request.
    const fields = idempotencyKey === undefined ? {} : { messageId: idempotencyKey };
    const request = { message: userMessage([dataPart(inputs)], fields) };
    const execution = await this.begin(agent, request, call, idempotencyKey);
    await execution.accepted;
    return { taskId: execution.taskId, agent: agent.path };
  }

  /** What was accepted under its key is not judged anew: the workflow may have changed since. */
  private async begin(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string | undefined,
  ): Promise<Execution> {
    const { executions } = this;
    try {
      await agent.executor.check?.(request, call);
    } catch (error) {
      const known = key !== undefined && (await executions.known(agent, request, call, key));
      if (known) return known;
      throw error;
    }
    return key === undefined ? executions.begin(agent, request, call) : executions.beginOnce(agent, request, call, key);
  }

  /** @throws ProblemError 404 */
  async header(runId: string, scope: TaskScope): Promise<TaskHeader> {
    const header = RUN_ID.test(runId) ? await this.tasks.header(runId, scope) : undefined;
    if (!header || !isRun(header)) throw unknownRun();
    return header;
  }

  /** @throws ProblemError 404 */
  async show(runId: string, call: ApiCall): Promise<RunView> {
    return runView(await this.source(runId, call));
  }

  /**
   * One node of a run, with what it was sent.
   * @throws ProblemError 404
   */
  async node(runId: string, nodeId: string, call: ApiCall): Promise<NodeDetail> {
    const found = nodeDetail(await this.source(runId, call), nodeId);
    if (!found) throw new ProblemError(404, 'node not found');
    return found;
  }

  /**
   * The definition that a run was started with, whatever became of its workflow.
   * @throws ProblemError 404
   */
  async workflow(runId: string, scope: TaskScope): Promise<WorkflowDefinition> {
    const { header, task } = await this.begun(runId, scope);
    return this.definition(header, task);
  }

  private async source(runId: string, { scope, baseUrl }: ApiCall): Promise<RunSource> {
    const header = await this.header(runId, scope);
    const [events, remembered, own, later] = await Promise.all([
      this.tasks.events(runId, 0, header.lastSequence),
      this.children.of(runId),
      this.tasks.children(runId),
      header.state === 'TASK_STATE_CANCELED' ? this.cancels.of(runId) : [],
    ]);
    const first = events[0]?.event;
    const definition = await this.definition(header, first && 'task' in first ? first.task : undefined);
    const children = [...remembered, ...own.flatMap(childOf)];
    return { header, definition, events: events.map((it) => it.event), baseUrl, children, later };
  }

  /**
   * Cancels a run. Canceling a canceled run again answers the same.
   * @throws ProblemError 404; 409 for a run that has ended otherwise
   */
  async cancel(runId: string, call: ApiCall): Promise<CancelReport> {
    const begun = await this.begun(runId, call.scope);
    if (!isTerminalState(begun.header.state)) await this.cancelRunning(begun, call);
    const { status, children } = await this.show(runId, call);
    if (status !== 'canceled') throw new ProblemError(409, `the run has ended: it is ${status}`);
    return { runId, status, children: children ?? [] };
  }

  private async cancelRunning({ header, task }: StoredTask, call: ApiCall): Promise<void> {
    const agent = await this.catalog.inTenant(header.tenant).resolve(header.agent, revisionOf(task));
    try {
      await this.executions.cancel(agent, header.taskId, callOf(agent, call));
    } catch (error) {
      // It ended in the meantime: what it ended as decides the answer.
      if (!(error instanceof A2AError) || error.reason !== 'TASK_NOT_CANCELABLE') throw error;
    }
  }

  /** The run with its Task as that began. */
  private async begun(runId: string, scope: TaskScope): Promise<StoredTask> {
    const header = await this.header(runId, scope);
    const task = await begunTask(this.tasks, runId);
    if (!task) throw unknownRun();
    return { header, task };
  }

  private async definition(header: TaskHeader, task: Task | undefined): Promise<WorkflowDefinition> {
    const name = workflowOf(header);
    const revision = await this.workflows.inTenant(header.tenant).get(name, task && revisionOf(task));
    if (!revision) throw new Error(`The definition that run ${header.taskId} was started with is missing`);
    return revision.definition;
  }

  private async agent(workflow: string, { tenant }: TaskScope): Promise<ServedAgent> {
    if (!WORKFLOW_NAME.test(workflow)) throw unknownWorkflow();
    try {
      return await this.catalog.inTenant(tenant).resolve(`workflows/${workflow}`);
    } catch (error) {
      if (error instanceof UnknownAgent) throw unknownWorkflow();
      throw error;
    }
  }
}

export function unknownWorkflow(): ProblemError {
  return new ProblemError(404, 'workflow not found');
}

function unknownRun(): ProblemError {
  return new ProblemError(404, 'run not found');
}

function callOf(agent: ServedAgent, { scope, baseUrl }: ApiCall): CallContext {
  return { scope, agent: agent.path, extensions: [], baseUrl };
}

/** A child's header as the run knows it: by the reference `node#attempt`. */
function childOf({ taskId, parentReference = '' }: TaskHeader): { nodeId: string; attempt: number; taskId: string }[] {
  const [, nodeId, attempt] = /^(.+)#(\d+)$/.exec(parentReference) ?? [];
  return nodeId === undefined ? [] : [{ nodeId, attempt: Number(attempt), taskId }];
}
