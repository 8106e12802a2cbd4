import { Injectable } from '@nestjs/common';
import type { ApiCall } from '#libs/access';
import { ListAdmission, type ListCaller, listProcesses, Processes, type ProcessListing } from '#libs/durable';
import { malformedRequest, type PagePosition, parsePageToken } from '#libs/http-server';
import { firstText, type JsonObject, TASK_STATES } from '#libs/protocol';
import {
  begunTask,
  type PageAdmission,
  type StoredTask,
  type TaskQuery,
  type TaskScope,
  TaskStore,
  TaskTextSearch,
} from '#libs/tasks';
import { inputsOf, type WorkflowFailure } from '#libs/workflow-definition';
import {
  nodePath,
  readRunMetadata,
  reportedError,
  revisionOf,
  RunChildStore,
  type RunStatus,
  runStatus,
  shownFailure,
  workflowRunBy,
} from '#libs/workflow-engine';
import { findRevision, WorkflowStore } from '../storage/workflow-store.js';
import { type RunPage, type RunSummary, STATES_OF } from './run.dto.js';
import type { RunFilterQuery, RunQuery } from './run-query.js';
import { RunCauses } from './run-causes.js';
import { searchRuns } from './run-search.js';

/** Maximum number of pages that `listPages` reads for a search. Pages of a search may be empty. */
const MOST_SEARCH_PAGES = 200;

/** Page of the runs that a filter selects. */
export interface RunListPage {
  runs: RunSummary[];
  /** True if no further runs follow. Also false on the last page of a search that ends at its limit. */
  isLast: boolean;
}

/** Pattern of the beginning of a run's id. Ordinary words and numbers do not match. */
const ID_BEGINS = /^[0-9a-f]{8}-[0-9a-f-]{0,27}$/i;

/**
 * Lists a caller's runs of all workflows, most recently updated first. The run of a `workflow` node is listed only with
 * the filter `parent`.
 */
@Injectable()
export class RunList {
  constructor(
    private readonly processes: Processes,
    private readonly workflows: WorkflowStore,
    private readonly tasks: TaskStore,
    private readonly children: RunChildStore,
    private readonly texts: TaskTextSearch,
    private readonly causes: RunCauses,
  ) {}

  /**
   * Returns a page of runs. With a search text, the page has only matches among a limited number of runs (see
   * `searchRuns`).
   * @param query filter and page; with `artifacts: false`, the runs have no results, and none are read
   * @param room reserves memory for the logs of the page
   */
  async listRuns(
    query: Omit<RunQuery, 'pageToken'> & Pick<TaskQuery, 'artifacts'>,
    call: Pick<ApiCall, 'scope' | 'whenAnswered'>,
    room: PageAdmission = this.processes.openRoom(call),
  ): Promise<RunPage> {
    const { scope } = call;
    const { pageSize, before } = query;
    const caller = { scope, room: new ListAdmission(room) };
    const results = query.artifacts === false && { artifacts: false };
    const listing = { ...(await this.buildListing(query, scope)), ...results };
    const text = query.search || undefined;
    if (text !== undefined && query.cause !== undefined)
      throw malformedRequest({ path: 'cause', detail: 'cannot be combined with search' });
    const isId = text !== undefined && query.q === undefined && (await this.beginsId(text, listing, caller));
    if (text === undefined || isId) {
      const of = isId ? { ...listing, among: { ...listing.among, search: text } } : listing;
      const { found, nextPageToken } = await listProcesses(this.tasks, of, { pageSize, before }, caller);
      return { runs: found, nextPageToken };
    }
    const stores = { tasks: this.tasks, texts: this.texts };
    return searchRuns(stores, listing, { text, pageSize, before }, caller);
  }

  /**
   * True if a listed run has an id that begins with the text. Such runs are found by the index of ids, whatever their
   * age.
   */
  private async beginsId(
    text: string,
    { agent, among }: ProcessListing<RunStatus, RunSummary>,
    { scope, room }: ListCaller,
  ): Promise<boolean> {
    if (!ID_BEGINS.test(text)) return false;
    const which = { scope, ...(agent !== undefined && { agent }), ...among, search: text, artifacts: false, limit: 1 };
    return (await this.tasks.readPage(which, room)).tasks.length > 0;
  }

  /**
   * Yields all runs that a filter selects, page by page, without their results. A search ends after MOST_SEARCH_PAGES.
   * A page is shorter than `pageSize` if the logs of its runs are large.
   * @param after position after which the first page begins; absent: the newest run
   */
  async *listPages(
    filter: RunFilterQuery,
    pageSize: number,
    call: Pick<ApiCall, 'scope' | 'whenAnswered'>,
    after?: PagePosition,
  ): AsyncGenerator<RunListPage, void> {
    let before = after;
    const most = filter.search ? MOST_SEARCH_PAGES : Infinity;
    for (let page = 1; page <= most; page += 1) {
      using room = this.processes.openRoom(call);
      const query = { ...filter, states: filter.states, pageSize, before, artifacts: false };
      const { runs, nextPageToken } = await this.listRuns(query, call, room);
      before = parsePageToken(nextPageToken);
      yield { runs, isLast: before === undefined };
      if (before === undefined) return;
    }
  }

  private async buildListing(query: RunFilterQuery, scope: TaskScope): Promise<ProcessListing<RunStatus, RunSummary>> {
    const { q, since, until, parent, workflow } = query;
    if (parent !== undefined && query.cause !== undefined)
      throw malformedRequest({ path: 'cause', detail: 'cannot be combined with parent' });
    const children = parent === undefined ? undefined : await this.amongChildren(parent, query, scope);
    const agent = children ? undefined : `workflows/${workflow ?? '*'}`;
    const ofCause = query.cause === undefined ? undefined : await this.causes.findRuns(query.cause, query, scope);
    const states = query.states ?? (agent === 'workflows/*' ? TASK_STATES : undefined);
    const among = {
      ...children,
      ...(states && { states }),
      ...(ofCause && { taskIds: ofCause }),
      ...(q && { search: q }),
      ...(since && { updatedAfter: since }),
      ...(until && { updatedBefore: until }),
    };
    return {
      ...(agent !== undefined && { agent }),
      among,
      states: STATES_OF,
      summary: (run) => this.summarizeRun(run),
    };
  }

  /** Returns a filter for the runs that the `workflow` nodes of the run `parent` have started. */
  private async amongChildren(
    parent: string,
    { workflow }: RunFilterQuery,
    scope: TaskScope,
  ): Promise<Pick<TaskQuery, 'agents' | 'calledBy'>> {
    const [task, elsewhere] = await Promise.all([begunTask(this.tasks, parent), this.children.listChildren(parent)]);
    const run = readRunMetadata(task?.metadata);
    const store = this.workflows.inTenant(scope.tenant);
    const found = run.workflow === undefined ? undefined : await findRevision(store, run.workflow, run.revision);
    const nodes = found?.definition.nodes.filter(({ type, config }) => {
      return type === 'workflow' && (workflow === undefined || config['workflow'] === workflow);
    });
    return {
      agents: nodes?.map(({ id }) => nodePath(run.workflow ?? '', id)) ?? [],
      calledBy: { taskId: parent, elsewhere: elsewhere.map(({ taskId }) => taskId) },
    };
  }

  private async summarizeRun({ header, task }: StoredTask): Promise<RunSummary | undefined> {
    const workflow = workflowRunBy(header, task);
    if (workflow === undefined) return undefined;
    const status = runStatus(header.state);
    const revision = revisionOf(task);
    return {
      runId: header.taskId,
      workflow,
      ...(revision !== undefined && { revision }),
      status,
      contextId: header.contextId,
      inputs: await this.readInputs({ header, task }, workflow),
      ...(task.artifacts && { result: task.artifacts }),
      ...(status === 'failed' && { error: await this.readFailure({ header, task }) }),
      createdAt: header.createdAt.toISOString(),
      updatedAt: header.updatedAt.toISOString(),
    };
  }

  /**
   * Returns the failure of a run. A run records its failure in the event before its last one. If the Task was ended
   * from outside the run, only the text of its status is known.
   */
  private async readFailure({ header: { taskId, lastSequence }, task }: StoredTask): Promise<WorkflowFailure> {
    const [reported] = await this.tasks.readEvents(taskId, Math.max(0, lastSequence - 2), 1);
    const message = firstText(task.status.message?.parts ?? []) ?? 'The run failed';
    return shownFailure((reported && reportedError(reported.event)) ?? { message });
  }

  private async readInputs({ header, task }: StoredTask, workflow: string): Promise<JsonObject> {
    const { inputs } = readRunMetadata(task.metadata);
    if (inputs !== undefined) return inputs;
    const revision = await findRevision(this.workflows.inTenant(header.tenant), workflow, revisionOf(task));
    const first = task.history?.[0];
    return revision && first ? inputsOf(first, revision.definition) : {};
  }
}
