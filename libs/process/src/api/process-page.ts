import { type PageQuery, pageTokenAfter } from '#libs/http';
import type { TaskState } from '#libs/protocol';
import type { StoredTask, TaskQuery, TaskScope, TaskStore } from '#libs/tasks';

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

/** A caller's processes of one kind, the one that changed last first. */
export async function processPage<Status extends string, Summary>(
  tasks: Pick<TaskStore, 'list'>,
  listing: ProcessListing<Status, Summary>,
  query: ProcessQuery<Status>,
  scope: TaskScope,
): Promise<ProcessPage<Summary>> {
  const states = query.status === undefined ? [undefined] : listing.states[query.status];
  const found = await Promise.all(states.map((state) => inState(tasks, listing, state, query, scope)));
  const sorted = found.flat().toSorted(newestFirst);
  const page = sorted.slice(0, query.pageSize);
  const last = page.at(-1);
  const summaries = await Promise.all(page.map(async (process) => listing.summary(process)));
  return {
    found: summaries.filter((it) => it !== undefined),
    nextPageToken: last && sorted.length > page.length ? pageTokenAfter(last.header) : '',
  };
}

/** One more than a page has: whether there is a further page. */
async function inState<Status extends string>(
  tasks: Pick<TaskStore, 'list'>,
  { agent, among, statusOf }: ProcessListing<Status, unknown>,
  state: TaskState | undefined,
  { status, before, pageSize }: ProcessQuery<Status>,
  scope: TaskScope,
): Promise<StoredTask[]> {
  const limit = pageSize + 1;
  const fitting: StoredTask[] = [];
  for (let after = before; ;) {
    const listed = await tasks.list({
      scope,
      ...(agent !== undefined && { agent }),
      ...among,
      state,
      before: after,
      limit,
    });
    fitting.push(...listed.filter((it) => status === undefined || !statusOf || statusOf(it) === status));
    if (fitting.length >= limit || listed.length < limit) return fitting.slice(0, limit);
    after = listed.at(-1)?.header;
  }
}

function newestFirst(a: StoredTask, b: StoredTask): number {
  const later = b.header.updatedAt.getTime() - a.header.updatedAt.getTime();
  if (later !== 0) return later;
  return a.header.taskId < b.header.taskId ? 1 : -1;
}
