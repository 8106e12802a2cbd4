import { type PageQuery, pageTokenAfter } from '#libs/http';
import type { TaskState } from '#libs/protocol';
import type { PageAdmission, StoredTask, TaskHeader, TaskQuery, TaskScope, TaskStore } from '#libs/tasks';

/** Rules for listing processes of one kind. */
export interface ProcessListing<Status extends string, Summary> {
  /** Path of their agent, or `workflows/*` for all agents one level below `workflows`; any agent if absent. */
  agent?: string;
  /** Further filters. */
  among?: Pick<TaskQuery, 'agents' | 'calledBy' | 'search' | 'updatedAfter'>;
  /** Task states that each status may stand for. */
  states: Readonly<Record<Status, readonly TaskState[]>>;
  /** Returns the exact status. Absent if the state determines it; otherwise Tasks of another status are skipped. */
  statusOf?: (process: StoredTask) => Status;
  /** Returns the summary, or `undefined` if the Task is not of this kind. */
  summary: (process: StoredTask) => Summary | undefined | Promise<Summary | undefined>;
}

export interface ProcessPage<Summary> {
  found: Summary[];
  /** Empty on the last page. */
  nextPageToken: string;
}

/** Page to list, and a status to filter by. */
export type ProcessQuery<Status> = Pick<PageQuery, 'pageSize' | 'before'> & { status?: Status };

/** Caller whose processes are listed, and the room that their logs share. */
interface ListCaller {
  scope: TaskScope;
  room: PageAdmission;
}

/** Listed Tasks of one state. */
interface StateListing {
  /** Newest first. */
  fitting: StoredTask[];
  /** Last Task that was examined; absent if no more follow. */
  passed?: TaskHeader;
}

/** Returns a page of a caller's processes of one kind, most recently updated first. The next page skips none. */
export async function listProcesses<Status extends string, Summary>(
  tasks: Pick<TaskStore, 'readPage'>,
  listing: ProcessListing<Status, Summary>,
  query: ProcessQuery<Status>,
  caller: ListCaller,
): Promise<ProcessPage<Summary>> {
  for (let { before } = query; ;) {
    const { page, next } = await tasksAfter(tasks, listing, { ...query, before }, caller);
    before = next;
    // Tasks that do not match may have filled the page.
    if (page.length === 0 && next) continue;
    const summaries = await Promise.all(page.map(async (process) => listing.summary(process)));
    return {
      found: summaries.filter((it) => it !== undefined),
      nextPageToken: next ? pageTokenAfter(next) : '',
    };
  }
}

/** Lists the states one after the other, since they share the room of one page. */
async function tasksAfter<Status extends string>(
  tasks: Pick<TaskStore, 'readPage'>,
  listing: ProcessListing<Status, unknown>,
  query: ProcessQuery<Status>,
  { scope, room }: ListCaller,
): Promise<{ page: StoredTask[]; next: TaskHeader | undefined }> {
  const states = query.status === undefined ? [undefined] : listing.states[query.status];
  const caller = { scope, room: new ListedLogs(room) };
  const found: StateListing[] = [];
  for (const state of states) found.push(await listState(tasks, listing, state, query, caller));
  // Behind the first Task at which the listing of a state stopped, Tasks of that state may be missing.
  const horizon = found.flatMap(({ passed }) => passed ?? []).toSorted(newestFirst)[0];
  const known = found.flatMap(({ fitting }) => fitting).toSorted((a, b) => newestFirst(a.header, b.header));
  const certain = known.filter(({ header }) => !horizon || newestFirst(header, horizon) <= 0);
  const page = certain.slice(0, query.pageSize);
  return { page, next: certain.length > page.length ? page.at(-1)?.header : horizon };
}

async function listState<Status extends string>(
  tasks: Pick<TaskStore, 'readPage'>,
  { agent, among, statusOf }: ProcessListing<Status, unknown>,
  state: TaskState | undefined,
  { status, before, pageSize }: ProcessQuery<Status>,
  { scope, room }: { scope: TaskScope; room: ListedLogs },
): Promise<StateListing> {
  // One more than the page size shows whether there is a next page.
  const limit = pageSize + 1;
  const fitting: StoredTask[] = [];
  const which = { scope, ...(agent !== undefined && { agent }), ...among, state };
  for (let after = before; ;) {
    const { tasks: listed, more } = await tasks.readPage({ ...which, before: after, limit }, room);
    fitting.push(...listed.filter((it) => status === undefined || !statusOf || statusOf(it) === status));
    const passed = listed.at(-1)?.header;
    if (!more || !passed) return { fitting };
    const isOutOfRoom = listed.length < limit;
    if (fitting.length >= limit || isOutOfRoom) return { fitting, passed };
    after = passed;
  }
}

/** Room of the large logs that one list has read, over all its queries: their Tasks are in memory together. */
class ListedLogs implements PageAdmission {
  private read = 0;

  constructor(private readonly room: PageAdmission) {}

  /** Number of bytes that may still be read. */
  get bytes(): number {
    return Math.max(0, this.room.bytes - this.read);
  }

  async admitBytes(bytes: number): Promise<void> {
    await this.room.admitBytes(this.read + bytes);
    this.read += bytes;
  }
}

type ListedPosition = Pick<TaskHeader, 'updatedAt' | 'taskId'>;

function newestFirst(a: ListedPosition, b: ListedPosition): number {
  const later = b.updatedAt.getTime() - a.updatedAt.getTime();
  if (later !== 0) return later;
  return a.taskId < b.taskId ? 1 : a.taskId > b.taskId ? -1 : 0;
}
