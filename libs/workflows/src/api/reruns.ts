import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { DEFINITION_GONE, Processes, unknownProcess } from '#libs/durable';
import { ProblemError } from '#libs/http-server';
import { isTerminalState, textStart } from '#libs/protocol';
import { newTaskId, type StoredTask, type TaskHeader, TaskStore } from '#libs/tasks';
import type { WorkflowDefinition, WorkflowRevision } from '#libs/workflow-definition';
import {
  isRun,
  OriginResults,
  parseInstance,
  readRerunRequest,
  rerunMetadata,
  type RerunRequest,
  revisionOf,
  RunState,
  runStatus,
  workflowOf,
  workflowRunBy,
} from '#libs/workflow-engine';
import { WorkflowStore } from '../storage/workflow-store.js';
import type { RerunBody, RunForks, StartedRerun } from './run.dto.js';
import { RUN } from './runs.js';

const PAGE = 100;

/** Description of a rerun. */
export interface RerunCommand extends RerunBody {
  /** True for the newest revision of the workflow, in place of `revision`. */
  newest?: boolean;
}

/** Starts reruns, and lists them. A rerun is a new run that reuses results of an ended run, which does not change. */
@Injectable()
export class Reruns {
  constructor(
    private readonly processes: Processes,
    private readonly tasks: TaskStore,
    private readonly workflows: WorkflowStore,
  ) {}

  /**
   * Starts a rerun of an ended run. Resolves when the new run is durable.
   * @throws ProblemError
   * - 404 for an unknown run
   * - 409 if the run has not ended, its definition is gone, or it is the run of a node
   * - 422 naming the parameter that does not fit
   * @throws A2AError as when a run of the workflow is started
   */
  async startRerun(runId: string, body: RerunCommand, call: ApiCall, idempotencyKey?: string): Promise<StartedRerun> {
    const { origin, workflow, request } = await this.prepareRerun(runId, body, call);
    const { contextId } = origin.header;
    const started = newTaskId();
    const store = this.workflows.inTenant(origin.header.tenant);
    if (!(await store.keepFor(started, workflow.definition.name, workflow.revision)))
      throw rerunProblem('revision', `the workflow has no revision "${workflow.revision}" any more`);
    const parts = body.inputs === undefined ? origin.task.history?.[0]?.parts : undefined;
    const taskId = await this.processes.startProcess(
      {
        taskId: started,
        agent: origin.header.agent,
        revision: workflow.revision,
        data: body.inputs ?? {},
        message: { contextId, referenceTaskIds: [runId], ...(parts && { parts }) },
        metadata: rerunMetadata(request),
        ...(body.inputs !== undefined && { namesInputs: true }),
      },
      call,
      idempotencyKey,
    );
    return { runId: taskId, origin: runId };
  }

  /**
   * Returns the original run of a rerun, and the idempotency key under which the rerun was started; `undefined` for any
   * other run.
   * @throws ProblemError 404 for an unknown run
   */
  async findStart(
    runId: string,
    { scope }: Pick<ApiCall, 'scope'>,
  ): Promise<{ origin: string; key: string } | undefined> {
    const { task } = await this.processes.loadBegun(RUN, runId, scope);
    const request = readRerunRequest(task.metadata);
    // The first Message has the key as its id.
    const key = task.history?.[0]?.messageId;
    return request && key !== undefined ? { origin: request.origin, key } : undefined;
  }

  /** Checks a rerun without starting it. @throws ProblemError as `startRerun` does */
  async checkRerun(runId: string, body: RerunCommand, call: ApiCall): Promise<void> {
    await this.prepareRerun(runId, body, call);
  }

  private async prepareRerun(
    runId: string,
    body: RerunCommand,
    call: ApiCall,
  ): Promise<{ origin: StoredTask; workflow: WorkflowRevision; request: RerunRequest }> {
    const origin = await this.processes.loadBegun(RUN, runId, call.scope);
    refuseInner(origin);
    if (!isTerminalState(origin.header.state)) throw new ProblemError(409, 'the run has not ended');
    const workflow = body.newest ? await this.findNewest(origin) : await this.findRevision(origin, body.revision);
    return { origin, workflow, request: await this.buildRequest(origin, workflow, body, call) };
  }

  /**
   * Returns the reruns of a run, newest first.
   * @throws ProblemError 404 for an unknown run
   */
  async listForks(runId: string, call: ApiCall): Promise<RunForks> {
    const { scope } = call;
    const { contextId, agent } = await this.processes.findHeader(RUN, runId, scope);
    using room = this.processes.openRoom(call);
    const forks: (TaskHeader & { editedNode?: string })[] = [];
    // A rerun shares the context of its original run, and a context has few runs.
    for (let before: TaskHeader | undefined; ;) {
      const query = { scope, agent, contextId, artifacts: false, before, limit: PAGE };
      const { tasks, more } = await this.tasks.readPage(query, room);
      for (const { header, task } of tasks) {
        const request = readRerunRequest(task.metadata);
        if (request?.origin !== runId) continue;
        forks.push({ ...header, ...(request.edit && { editedNode: request.edit.node }) });
      }
      before = tasks.at(-1)?.header;
      if (!more || !before) break;
    }
    const newestFirst = forks.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
    return {
      forks: newestFirst.map(({ taskId, createdAt, state, editedNode }) => ({
        runId: taskId,
        createdAt: createdAt.toISOString(),
        status: runStatus(state),
        ...(editedNode !== undefined && { editedNode }),
      })),
    };
  }

  private async findNewest({ header }: StoredTask): Promise<WorkflowRevision> {
    const workflow = await this.workflows.inTenant(header.tenant).get(workflowOf(header));
    if (!workflow) throw new ProblemError(409, DEFINITION_GONE);
    return workflow;
  }

  private async findRevision({ header, task }: StoredTask, named: string | undefined): Promise<WorkflowRevision> {
    const revision = named ?? revisionOf(task);
    const workflow = await this.workflows.inTenant(header.tenant).get(workflowOf(header), revision);
    if (workflow) return workflow;
    if (named === undefined) throw new ProblemError(409, DEFINITION_GONE);
    throw rerunProblem('revision', `the workflow has no revision "${textStart(named, 64)}"`);
  }

  private async buildRequest(
    { header, task }: StoredTask,
    { definition, revision: newer }: WorkflowRevision,
    { from: named, failed, inputs, revision, edit }: RerunBody,
    call: ApiCall,
  ): Promise<RerunRequest> {
    const origin = header.taskId;
    const from = edit && !named?.includes(edit.node) ? [...(named ?? []), edit.node] : named;
    if (from === undefined && !failed && inputs === undefined && revision === undefined) return { origin, all: true };
    using room = this.processes.openRoom(call);
    const log = await this.processes.readLog(header, room);
    const then = await this.findRevision({ header, task }, undefined);
    const known = RunState.fromEvents(then.definition, log);
    if (edit) assertEditable(edit.node, definition, known);
    const ids = new Set(definition.nodes.map(({ id }) => id));
    for (const [place, name] of (from ?? []).entries()) {
      const instance = parseInstance(name);
      if (instance && ids.has(instance.id) && (known.findInstance(name) !== undefined || name === instance.id))
        continue;
      if (instance && !ids.has(instance.id) && known.nodes.has(instance.id))
        throw rerunProblem(`from[${place}]`, `revision "${newer}" of the workflow has no node "${instance.id}"`);
      throw rerunProblem(`from[${place}]`, `the run has no instance "${textStart(name, 128)}"`);
    }
    // A run that failed as a whole, for example by its deadline, is rerun with the results that it has.
    const hasFailed = header.state === 'TASK_STATE_FAILED' || new OriginResults(log).failed.length > 0;
    if (failed && from === undefined && !hasFailed) throw rerunProblem('failed', 'nothing of the run has failed');
    return {
      origin,
      ...(from && { from }),
      ...(failed && { failed }),
      ...(edit && { edit: { node: edit.node, prompt: edit.prompt } }),
    };
  }
}

/**
 * Rejects a rerun of a run that a `workflow` node called. Such a run cannot be rerun by itself; the calling run can.
 * @throws ProblemError 409 for such a run; 404 if the Task is not a run
 */
function refuseInner({ header, task }: StoredTask): void {
  if (isRun(header)) return;
  if (workflowRunBy(header, task) === undefined) throw unknownProcess(RUN);
  const { parentTaskId, parentReference = '' } = header;
  const [, node] = /^(.+)#\d+$/.exec(parentReference) ?? [];
  if (parentTaskId === undefined || node === undefined)
    throw new ProblemError(
      409,
      'the run is one of a node: rerun the run that called it from the node, or call it again',
    );
  throw new ProblemError(409, `the run is one of node "${node}" of run ${parentTaskId}: rerun that from the node`);
}

/**
 * Rejects the edit of a prompt if the run has no instance of this name, or the instance's node is no `agent` node.
 * @throws ProblemError 422 naming `edit.node`
 */
function assertEditable(name: string, definition: WorkflowDefinition, run: RunState): void {
  const id = parseInstance(name)?.id;
  const node = definition.nodes.find((it) => it.id === id);
  if (node === undefined || run.findInstance(name) === undefined)
    throw rerunProblem('edit.node', `the run has no instance "${textStart(name, 128)}"`);
  if (node.type !== 'agent') throw rerunProblem('edit.node', `node "${node.id}" is no agent with a prompt`);
}

function rerunProblem(path: string, detail: string): ProblemError {
  return new ProblemError(422, `${path}: ${detail}`, [{ path, detail }]);
}
