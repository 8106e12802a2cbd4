import { setTimeout as delay } from 'node:timers/promises';
import type { AgentCatalog } from '#libs/agents';
import { Processes } from '#libs/durable';
import type { ExecutionRegistry } from '#libs/executor';
import { ApiValidationPipe } from '#libs/http-server';
import { dataPart, runEventMetadata, statusUpdate, submittedTask, type TaskState, userMessage } from '#libs/protocol';
import {
  ANONYMOUS_SCOPE,
  type RecordedEvent,
  type StoredTask,
  type TaskQuery,
  type TaskStore,
  type TaskTextSearch,
} from '#libs/tasks';
import { runMetadata, workflowFailed } from '#libs/workflow-engine';
import { MemoryWorkflowStore } from '../testing/memory-workflow-store.js';
import type { RunCauses } from './run-causes.js';
import { RunList } from './run-list.js';
import { RunExportQuery, RunFilterQuery, RunQuery } from './run-query.js';

const NOW = 1_700_000_000_000;

/** Input that has the form of the beginning of an id. */
const NUMBER = '00004711-77';

function stored(id: string, state: TaskState, age: number, workflow = 'w', input = id): StoredTask {
  const reference = { taskId: id, contextId: `c-${id}` };
  const metadata = runMetadata({ workflow, revision: '1', inputs: { a: input } });
  const task = submittedTask(reference, userMessage([dataPart({ a: input })]), metadata);
  const text = { messageId: 'm', role: 'ROLE_AGENT' as const, parts: [{ text: 'node "a": broken' }] };
  task.status = { state, ...(state === 'TASK_STATE_FAILED' && { message: text }) };
  const scope = { tenant: '', owner: '' };
  const times = { createdAt: new Date(NOW - 100_000), updatedAt: new Date(NOW - age) };
  return { header: { ...reference, ...scope, agent: `workflows/${workflow}`, state, lastSequence: 9, ...times }, task };
}

/** Failure that the run `r4` records in the event before its last one. */
const FAILURE = { kind: 'timeout', node: 'a', instance: 'a@2', message: 'node "a@2": broken' } as const;

function recorded(taskId: string, sequence: number): RecordedEvent[] {
  if (taskId !== 'r4' || sequence !== 8) return [];
  const note = workflowFailed.createNote({ error: FAILURE.message, node: 'a', failure: FAILURE });
  const reference = { taskId, contextId: `c-${taskId}` };
  const event = statusUpdate(reference, 'TASK_STATE_WORKING', undefined, runEventMetadata(note));
  return [{ taskId, sequence, event, json: '' }];
}

/** Creates a RunList over a few Tasks in memory, with a `readPage` that satisfies the contract of TaskStore. */
function listOf(stored: StoredTask[], texts?: TaskTextSearch): RunList {
  const page = async ({ agent = '', states, taskIds, search = '', before, limit, artifacts = true }: TaskQuery) => {
    const found = stored
      .filter(
        ({ header }) => (agent.endsWith('/*') || header.agent === agent) && (states?.includes(header.state) ?? true),
      )
      .filter(({ header }) => taskIds?.includes(header.taskId) ?? true)
      .filter(({ header }) => header.taskId.startsWith(search))
      .toSorted(
        (a, b) =>
          b.header.updatedAt.getTime() - a.header.updatedAt.getTime() || (a.header.taskId < b.header.taskId ? 1 : -1),
      )
      .filter(({ header }) => {
        if (!before) return true;
        const later = header.updatedAt.getTime() - before.updatedAt.getTime();
        return later < 0 || (later === 0 && header.taskId < before.taskId);
      });
    const tasks = found.slice(0, limit).map(({ header, task }) => {
      const { artifacts: results, ...rest } = task;
      return { header, task: { ...rest, ...(artifacts && results && { artifacts: results }) } };
    });
    return { tasks, more: found.length > limit };
  };
  const events = async (taskId: string, after: number) => recorded(taskId, after + 1);
  const tasks = { readPage: page, readEvents: events } as unknown as TaskStore;
  const processes = new Processes({} as AgentCatalog, {} as ExecutionRegistry, tasks);
  const children = { listChildren: async () => [], rememberChild: async () => undefined, movedOn: async () => [] };
  return new RunList(processes, new MemoryWorkflowStore(), tasks, children, texts ?? textsOf(page), {
    findRuns: async () => [],
  } as unknown as RunCauses);
}

/** Fake TaskTextSearch over any number of Tasks without matches. Each search takes `ms`, and its limit goes to `limits`. */
function searchWithoutMatches(ms: number, limits: number[]): TaskTextSearch {
  const searchTasks: TaskTextSearch['searchTasks'] = async ({ limit }) => {
    limits.push(limit);
    if (ms > 0) await delay(ms);
    return { matches: [], searched: limit, last: { updatedAt: new Date(NOW), taskId: 'r1' } };
  };
  return { searchTasks } as TaskTextSearch;
}

/** Fake TaskTextSearch that returns every Task as a match, and searches two Tasks at a time. */
function textsOf(page: (query: TaskQuery) => Promise<{ tasks: StoredTask[]; more: boolean }>): TaskTextSearch {
  const searchTasks: TaskTextSearch['searchTasks'] = async (query) => {
    const { tasks, more } = await page({ ...query, limit: 2 });
    const last = more ? tasks.at(-1)?.header : undefined;
    const matches = tasks.map(({ header }, index) => ({ ...header, rank: index + 1 }));
    return { matches, searched: tasks.length, ...(last && { last }) };
  };
  return { searchTasks } as TaskTextSearch;
}

function readRunQuery(query: Record<string, unknown>): RunQuery {
  return new ApiValidationPipe().transform(query, { type: 'query', metatype: RunQuery }) as RunQuery;
}

const list = listOf([
  stored('r1', 'TASK_STATE_COMPLETED', 10),
  stored('r2', 'TASK_STATE_WORKING', 20),
  stored('r3', 'TASK_STATE_SUBMITTED', 20),
  stored('r4', 'TASK_STATE_FAILED', 5, 'other'),
  stored('r5', 'TASK_STATE_REJECTED', 30),
  stored('r6', 'TASK_STATE_WORKING', 40),
]);

async function idsOf(query: Record<string, string>): Promise<string[]> {
  return (await list.listRuns(readRunQuery(query), { scope: ANONYMOUS_SCOPE })).runs.map((run) => run.runId);
}

describe('RunList', () => {
  it('gives the one that changed last first', async () => {
    expect(await idsOf({})).toEqual(['r4', 'r1', 'r3', 'r2', 'r5', 'r6']);
  });

  it('knows runs by the words of the API', async () => {
    expect(await idsOf({ status: 'running' })).toEqual(['r3', 'r2', 'r6']);
    expect(await idsOf({ status: 'failed' })).toEqual(['r4', 'r5']);
    expect(await idsOf({ status: 'canceled' })).toEqual([]);
    expect(await idsOf({ workflow: 'other' })).toEqual(['r4']);
    expect(await idsOf({ workflow: 'other', status: 'running' })).toEqual([]);
  });

  it.each([[{}], [{ status: 'running' }], [{ status: 'failed' }]])('gives all of %j in pages', async (query) => {
    const ids: string[] = [];
    for (let pageToken = ''; ;) {
      const page = await list.listRuns(readRunQuery({ ...query, pageSize: '1', pageToken }), {
        scope: ANONYMOUS_SCOPE,
      });
      expect(page.runs).toHaveLength(1);
      ids.push(...page.runs.map((run) => run.runId));
      pageToken = page.nextPageToken;
      if (pageToken === '') break;
    }
    expect(ids).toEqual(await idsOf(query as Record<string, string>));
  });

  it('gives all pages of a filter, however short they are, and without results', async () => {
    const many = Array.from({ length: 250 }, (_, n) => stored(`m${n}`, 'TASK_STATE_COMPLETED', n));
    for (const { task } of many) task.artifacts = [{ artifactId: 'out', parts: [{ text: 'result' }] }];
    const found: string[] = [];
    for await (const { runs } of listOf(many).listPages(new RunFilterQuery(), 1, { scope: ANONYMOUS_SCOPE })) {
      expect(runs.filter(({ result }) => result)).toEqual([]);
      found.push(...runs.map(({ runId }) => runId));
    }
    expect(found).toEqual(many.map(({ header }) => header.taskId));
  });

  it('continues an export after a run, also among runs of the same time', async () => {
    const query = Object.assign(new RunExportQuery(), { until: new Date(NOW - 20), after: 'r3' });
    const { filter, before } = query.selection;
    const found: string[] = [];
    for await (const { runs } of list.listPages(filter, 1, { scope: ANONYMOUS_SCOPE }, before))
      found.push(...runs.map(({ runId }) => runId));
    expect(found).toEqual(['r2', 'r5', 'r6']);
    expect(() => Object.assign(new RunExportQuery(), { after: 'r3' }).selection).toThrow('until: is missing');
  });

  it('lists the runs of several statuses, in the order of all runs', async () => {
    expect(await idsOf({ status: 'completed,running' })).toEqual(['r1', 'r3', 'r2', 'r6']);
    expect(() => readRunQuery({ status: 'completed,done' })).toThrow(/status: must be one of running,/);
    expect(() => readRunQuery({ status: 'completed,' })).toThrow(/status: must be one of running,/);
    expect(() => readRunQuery({ search: 'a'.repeat(101) })).toThrow('search: must have at most 100 characters');
    expect(() => readRunQuery({ until: 'noon' })).toThrow(/until: must be a time/);
  });

  it.each([
    ['R', ['r4', 'r1', 'r3', 'r2', 'r5', 'r6']],
    ['r3', ['r3']],
    ['BROKEN', ['r4']],
    ['oTHer', ['r4']],
    ['nothing', []],
  ])('finds the runs whose id, workflow, error or inputs contain %s', async (search, ids) => {
    expect(await idsOf({ search })).toEqual(ids);
  });

  it.each(['search', 'parent'])('refuses a cause together with %s, since no run would be found', async (member) => {
    const query = Object.assign(readRunQuery({}), { cause: 'c', [member]: 'r1' });
    await expect(list.listRuns(query, { scope: ANONYMOUS_SCOPE })).rejects.toThrow(
      `cause: cannot be combined with ${member}`,
    );
  });

  it('continues the search for a text that only looks like the beginning of an id', async () => {
    const looksLikeId = listOf(
      Array.from({ length: 5 }, (_, n) => stored(`r${n}`, 'TASK_STATE_COMPLETED', n, 'w', NUMBER)),
    );
    const ids: string[] = [];
    for (let pageToken = ''; ;) {
      const query = readRunQuery({ search: NUMBER, pageSize: '2', pageToken });
      const page = await looksLikeId.listRuns(query, { scope: ANONYMOUS_SCOPE });
      ids.push(...page.runs.map(({ runId }) => runId));
      if ((pageToken = page.nextPageToken) === '') break;
    }
    expect(ids).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
  });

  it.each(['1', '2', '5'])('searches in pages of %s, of which none is lost and none is repeated', async (pageSize) => {
    const [ids, searched]: [string[], number[]] = [[], []];
    for (let pageToken = ''; ;) {
      const query = readRunQuery({ search: 'r', status: 'running,failed', pageSize, pageToken });
      const page = await list.listRuns(query, { scope: ANONYMOUS_SCOPE });
      ids.push(...page.runs.map(({ runId }) => runId));
      searched.push(page.search?.searched ?? 0);
      if ((pageToken = page.nextPageToken) === '') break;
    }
    expect(ids).toEqual(['r4', 'r3', 'r2', 'r5', 'r6']);
    expect(searched.reduce((sum, count) => sum + count, 0)).toBe(5);
  });

  it('ends a search whose first runs take all of its time, and continues it on the next page', async () => {
    const limits: number[] = [];
    const slow = listOf([], searchWithoutMatches(300, limits));
    const page = await slow.listRuns(readRunQuery({ search: 'nothing' }), { scope: ANONYMOUS_SCOPE });
    expect(page).toMatchObject({ runs: [], search: { searched: 100 }, nextPageToken: expect.stringMatching(/./) });
    expect(limits).toEqual([100]);
  });

  it('searches more runs at a time where that is fast', async () => {
    const limits: number[] = [];
    const fast = listOf([], searchWithoutMatches(0, limits));
    const page = await fast.listRuns(readRunQuery({ search: 'nothing' }), { scope: ANONYMOUS_SCOPE });
    expect(page.search?.searched).toBe(limits.reduce((sum, limit) => sum + limit, 0));
    expect(limits[0]).toBe(100);
    expect(Math.max(...limits)).toBeGreaterThan(100);
    expect(Math.max(...limits)).toBeLessThanOrEqual(1_000);
  });

  it('shows what a run is and why it failed', async () => {
    const [failed, completed] = (await list.listRuns(readRunQuery({}), { scope: ANONYMOUS_SCOPE })).runs;
    expect(failed).toEqual({
      runId: 'r4',
      workflow: 'other',
      revision: '1',
      status: 'failed',
      contextId: 'c-r4',
      inputs: { a: 'r4' },
      error: FAILURE,
      createdAt: new Date(NOW - 100_000).toISOString(),
      updatedAt: new Date(NOW - 5).toISOString(),
    });
    expect(completed).not.toHaveProperty('error');
  });

  it('shows the last words of a run that did not come to its end by itself', async () => {
    const { runs } = await list.listRuns(readRunQuery({ status: 'failed' }), { scope: ANONYMOUS_SCOPE });
    expect(runs.find(({ runId }) => runId === 'r5')?.error).toEqual({ kind: 'failed', message: 'The run failed' });
  });
});
