import { type PageQuery, pageTokenAfter } from '#libs/http';
import type { TaskState } from '#libs/protocol';
import type { PageAdmission, StoredTask, TaskHeader, TaskQuery, TaskScope, TaskStore } from '#libs/tasks';

/** How processes of one kind are listed. */
export interface ProcessListing<Status extends string, Summary> {
  /** The path of their agent, or `workflows/*` for every agent one step below `workflows`; absent: any. */
  agent?: string;
  /** Which of them. */
  among?: Pick<TaskQuery, 'agents' | 'calledBy' | 'search' | 'updatedAfter'>;
  /** The states of a Task that a status may stand for. */
  states: Readonly<Record<Status, readonly TaskState[]>>;
  /** Absent: a Task's state says all; else those of a state that have another status are passed over. */
  statusOf?: (process: StoredTask) => Status;
  /** `undefined` where the Task is none of the kind. */
  summary: (process: StoredTask) => Summary | undefined | Promise<Summary | undefined>;
}

export interface ProcessPage<Summary> {
  found: Summary[];
  /** Empty on the last page. */
  nextPageToken: string;
}

/** Which page is asked for, and of which. */
export type ProcessQuery<Status> = Pick<PageQuery, 'pageSize' | 'before'> & { status?: Status };

/** Whose processes are listed, and the room that their logs have together. */
interface ListCaller {
  scope: TaskScope;
  room: PageAdmission;
}

/** Tasks of one state that are listed. */
interface StateListing {
  /** Newest first. */
  fitting: StoredTask[];
  /** The last Task that was looked at; absent where there are no further ones. */
  passed?: TaskHeader;
}

/** Returns a page of a caller's processes of one kind, the one that changed last first; none is left out by the next page. */
export async function processPage<Status extends string, Summary>(
  tasks: Pick<TaskStore, 'page'>,
  listing: ProcessListing<Status, Summary>,
  query: ProcessQuery<Status>,
  caller: ListCaller,
): Promise<ProcessPage<Summary>> {
  for (let { before } = query; ;) {
    const { page, next } = await tasksAfter(tasks, listing, { ...query, before }, caller);
    before = next;
    // Large Tasks may have been passed that do not fit.
    if (page.length === 0 && next) continue;
    const summaries = await Promise.all(page.map(async (process) => listing.summary(process)));
    return {
      found: summaries.filter((it) => it !== undefined),
      nextPageToken: next ? pageTokenAfter(next) : '',
    };
  }
}

/** Lists one state after the other: together they have the room of one page. */
async function tasksAfter<Status extends string>(
  tasks: Pick<TaskStore, 'page'>,
  listing: ProcessListing<Status, unknown>,
  query: ProcessQuery<Status>,
  { scope, room }: ListCaller,
): Promise<{ page: StoredTask[]; next: TaskHeader | undefined }> {
  const states = query.status === undefined ? [undefined] : listing.states[query.status];
  const caller = { scope, room: new ListedLogs(room) };
  const found: StateListing[] = [];
  for (const state of states) found.push(await inState(tasks, listing, state, query, caller));
  // Beyond the first Task where the look at a state ended, others of that state may be in between.
  const horizon = found.flatMap(({ passed }) => passed ?? []).toSorted(newestFirst)[0];
  const known = found.flatMap(({ fitting }) => fitting).toSorted((a, b) => newestFirst(a.header, b.header));
  const certain = known.filter(({ header }) => !horizon || newestFirst(header, horizon) <= 0);
  const page = certain.slice(0, query.pageSize);
  return { page, next: certain.length > page.length ? page.at(-1)?.header : horizon };
}

async function inState<Status extends string>(
  tasks: Pick<TaskStore, 'page'>,
  { agent, among, statusOf }: ProcessListing<Status, unknown>,
  state: TaskState | undefined,
  { status, before, pageSize }: ProcessQuery<Status>,
  { scope, room }: { scope: TaskScope; room: ListedLogs },
): Promise<StateListing> {
  // One more than a page has: whether there is a further page.
  const limit = pageSize + 1;
  const fitting: StoredTask[] = [];
  const which = { scope, ...(agent !== undefined && { agent }), ...among, state };
  for (let after = before; ;) {
    const { tasks: listed, more } = await tasks.page({ ...which, before: after, limit }, room);
    fitting.push(...listed.filter((it) => status === undefined || !statusOf || statusOf(it) === status));
    const passed = listed.at(-1)?.header;
    if (!more || !passed) return { fitting };
    const isOutOfRoom = listed.length < limit;
    if (fitting.length >= limit || isOutOfRoom) return { fitting, passed };
    after = passed;
  }
}

/** Large logs that one list has read: their Tasks are here together, however many queries brought them. */
class ListedLogs implements PageAdmission {
  private read = 0;

  constructor(private readonly room: PageAdmission) {}

  /** Bytes that may still be read. */
  get bytes(): number {
    return Math.max(0, this.room.bytes - this.read);
  }

  async admit(bytes: number): Promise<void> {
    await this.room.admit(this.read + bytes);
    this.read += bytes;
  }
}

type Place = Pick<TaskHeader, 'updatedAt' | 'taskId'>;

function newestFirst(a: Place, b: Place): number {
  const later = b.updatedAt.getTime() - a.updatedAt.getTime();
  if (later !== 0) return later;
  return a.taskId < b.taskId ? 1 : a.taskId > b.taskId ? -1 : 0;
}
