import { PageQuery } from '#libs/http-server';
import { submittedTask, type TaskState, userMessage } from '#libs/protocol';
import { ANONYMOUS_SCOPE, type PageAdmission, type StoredTask, type TaskPage, type TaskQuery } from '#libs/tasks';
import { listProcesses, type ProcessListing } from './processes.js';

type Status = 'active' | 'good' | 'bad';

function stored(id: string, state: TaskState, age: number): StoredTask {
  const reference = { taskId: id, contextId: 'c' };
  const task = submittedTask(reference, userMessage('x'));
  task.status = { state };
  const times = { createdAt: new Date(0), updatedAt: new Date(100_000 - age) };
  return { header: { ...reference, ...ANONYMOUS_SCOPE, agent: 'things', state, lastSequence: 1, ...times }, task };
}

/** Store of a few Tasks in memory, with a `readPage` that satisfies the contract of TaskStore. */
class Tasks {
  queries: TaskQuery[] = [];

  constructor(private readonly stored: StoredTask[]) {}

  async readPage(query: TaskQuery, admission: PageAdmission): Promise<TaskPage> {
    this.queries.push(query);
    const fitting = this.fitting(query);
    const tasks: StoredTask[] = [];
    let bytes = 0;
    for (const it of fitting.slice(0, query.limit)) {
      bytes += it.bytes ?? 0;
      if (tasks.length > 0 && bytes > admission.bytes) break;
      tasks.push(it);
    }
    const large = tasks.reduce((sum, it) => sum + (it.bytes ?? 0), 0);
    if (large > 0) await admission.admitBytes(large);
    return { tasks, more: fitting.length > tasks.length };
  }

  private fitting(query: TaskQuery): StoredTask[] {
    const { state, before } = query;
    const isAfter = ({ header }: StoredTask): boolean => {
      const later = header.updatedAt.getTime() - (before?.updatedAt.getTime() ?? Infinity);
      return later < 0 || (later === 0 && header.taskId < (before?.taskId ?? ''));
    };
    return this.stored
      .filter((it) => (!state || it.header.state === state) && isAfter(it))
      .toSorted((a, b) => b.header.updatedAt.getTime() - a.header.updatedAt.getTime());
  }
}

const WAITING = 'TASK_STATE_INPUT_REQUIRED';

/** Rules for a list of processes. The status of a waiting process is `good` or `bad`, by its id. */
const LISTING: ProcessListing<Status, string> = {
  agent: 'things',
  states: {
    active: ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'],
    good: [WAITING, 'TASK_STATE_COMPLETED'],
    bad: [WAITING, 'TASK_STATE_FAILED'],
  },
  statusOf: ({ header: { taskId, state } }) => {
    if (state === WAITING) return taskId.startsWith('good') ? 'good' : 'bad';
    return state === 'TASK_STATE_COMPLETED' ? 'good' : state === 'TASK_STATE_FAILED' ? 'bad' : 'active';
  },
  summary: ({ header: { taskId } }) => (taskId === 'none' ? undefined : taskId),
};

const tasks = new Tasks([
  stored('good1', WAITING, 1),
  stored('bad1', WAITING, 2),
  stored('bad2', WAITING, 3),
  stored('bad3', WAITING, 4),
  stored('good2', WAITING, 5),
  stored('ended', 'TASK_STATE_COMPLETED', 0),
  stored('working', 'TASK_STATE_WORKING', 6),
  stored('none', 'TASK_STATE_SUBMITTED', 7),
]);

/** Creates a caller with the given memory, and records the sizes that were reserved. */
function callerWith(bytes: number) {
  const admitted: number[] = [];
  const room: PageAdmission = { bytes, admitBytes: async (wanted) => void admitted.push(wanted) };
  return { admitted, caller: { scope: ANONYMOUS_SCOPE, room } };
}

async function pages(
  status: Status | undefined,
  pageSize: number,
  { caller } = callerWith(Infinity),
  of = tasks,
): Promise<string[][]> {
  const found: string[][] = [];
  for (let before: PageQuery['before']; ;) {
    const query = { pageSize, before, ...(status && { status }) };
    const page = await listProcesses(of, LISTING, query, caller);
    found.push(page.found);
    if (page.nextPageToken === '') return found;
    before = Object.assign(new PageQuery(), { pageToken: page.nextPageToken }).before;
  }
}

describe('processPage', () => {
  it('gives the one that changed last first, in pages, without Tasks that are none', async () => {
    const [all] = await pages(undefined, 100);
    expect(all).toEqual(['ended', 'good1', 'bad1', 'bad2', 'bad3', 'good2', 'working']);
    expect((await pages(undefined, 2)).flat()).toEqual(all);
  });

  it('passes over those of a state that have another status, however many there are', async () => {
    expect(await pages('good', 1)).toEqual([['ended'], ['good1'], ['good2']]);
    expect(await pages('good', 2)).toEqual([['ended', 'good1'], ['good2']]);
    expect(await pages('bad', 3)).toEqual([['bad1', 'bad2', 'bad3']]);
    expect(await pages('active', 5)).toEqual([['working']]);
  });

  it('asks for the Tasks of the agent and the caller alone, and not for more than a page needs', async () => {
    tasks.queries = [];
    const scope = { tenant: 't', owner: 'o' };
    await listProcesses(tasks, LISTING, { pageSize: 3, before: undefined }, { ...callerWith(0).caller, scope });
    expect(tasks.queries).toEqual([{ scope, agent: 'things', limit: 4, state: undefined, before: undefined }]);
  });

  describe('of large logs', () => {
    const large = (id: string, state: TaskState, age: number): StoredTask => ({ ...stored(id, state, age), bytes: 60 });
    const largeTasks = new Tasks([
      large('good1', WAITING, 1),
      large('ended1', 'TASK_STATE_COMPLETED', 2),
      large('bad1', WAITING, 3),
      large('ended2', 'TASK_STATE_COMPLETED', 4),
      large('good2', WAITING, 5),
      large('bad2', WAITING, 6),
    ]);

    it('is as long as they have room together, and waits for that before they are read', async () => {
      const { admitted, caller } = callerWith(130);
      const page = await listProcesses(largeTasks, LISTING, { pageSize: 10, before: undefined }, caller);
      expect(page.found).toEqual(['good1', 'ended1']);
      expect(page.nextPageToken).not.toBe('');
      expect(admitted).toEqual([120]);
    });

    it('counts those of several states together, and leaves none out', async () => {
      const room = callerWith(130);
      const [first, ...others] = await pages('good', 10, room, largeTasks);
      expect(first).toEqual(['good1', 'ended1']);
      expect(room.admitted.slice(0, 2)).toEqual([120, 180]);
      expect(others.flat()).toEqual(['ended2', 'good2']);
    });

    it('looks on where only others had room', async () => {
      expect(await pages('bad', 10, callerWith(1), largeTasks)).toEqual([['bad1'], ['bad2']]);
    });
  });
});
