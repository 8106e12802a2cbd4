import { type ListCaller, listProcesses, type ProcessListing } from '#libs/durable';
import { type PagePosition, pageTokenAfter } from '#libs/http-server';
import { isJsonObject, type JsonValue } from '#libs/protocol';
import type { TaskQuery, TaskStore, TaskTextSearch, TextMatch } from '#libs/tasks';
import type { RunStatus } from '#libs/workflow-engine';
import type { RunPage, RunSummary } from './run.dto.js';

/** Maximum number of runs that one request searches. */
const MOST_SEARCHED = 10_000;
/** Maximum number of runs that one statement searches, and number of those that the first one searches. */
const SEARCHED_TOGETHER = 1_000;
const SEARCHED_FIRST = 100;
/** Milliseconds of a search request. No statement begins that would probably end later. */
const SEARCH_MS = 200;
/** Maximum characters of a run's inputs that are searched. */
const SEARCHED_CHARACTERS = 65_536;

/** Text to search for, and the page to return. */
interface RunSearchQuery {
  text: string;
  pageSize: number;
  before: PagePosition | undefined;
}

/** Search of one request: the runs found so far, and the position that it has reached. */
class RunSearchPass {
  readonly runs: RunSummary[] = [];
  /** Position after which the search continues; `undefined` at its start, and after all runs were searched. */
  place: PagePosition | undefined;
  searched = 0;
  private readonly begunAt = performance.now();
  /** Number of runs that statements have searched so far, from which the number for the next statement follows. */
  private examined = 0;
  /** Milliseconds of the last read of runs that may match. */
  private readMs = 0;

  constructor(
    private readonly stores: { tasks: Pick<TaskStore, 'readPage'>; texts: Pick<TaskTextSearch, 'searchTasks'> },
    private readonly listing: ProcessListing<RunStatus, RunSummary>,
    private readonly query: RunSearchQuery,
    private readonly caller: ListCaller,
  ) {
    this.place = query.before;
  }

  /** Searches until the page is full, the limits are reached, or no runs are left. */
  async searchRuns(): Promise<RunPage> {
    let hasMore = true;
    while (hasMore && !this.isOver()) hasMore = await this.searchStep();
    const { runs, place, searched } = this;
    const next = hasMore ? place : undefined;
    return {
      runs,
      nextPageToken: next ? pageTokenAfter(next) : '',
      search: { searched, ...(next && { until: next.updatedAt.toISOString() }) },
    };
  }

  private isOver(): boolean {
    const { runs, searched, query } = this;
    const isLate = this.nextCount() < 1 || this.readMs > this.timeLeft();
    return runs.length >= query.pageSize || searched >= MOST_SEARCHED || isLate;
  }

  private timeLeft(): number {
    return SEARCH_MS - (performance.now() - this.begunAt);
  }

  /**
   * Returns the number of runs for the next statement: as many as fit in the time left, at the rate of this request so
   * far. Runs with large inputs take a hundred times as long as others.
   */
  private nextCount(): number {
    if (this.examined === 0) return SEARCHED_FIRST;
    const left = this.timeLeft();
    return Math.min(SEARCHED_TOGETHER, Math.floor((this.examined * left) / (SEARCH_MS - left)));
  }

  /** Searches the next runs with one statement. Returns false if no further runs follow. */
  private async searchStep(): Promise<boolean> {
    const { agent, among } = this.listing;
    const { scope } = this.caller;
    const which = { scope, ...(agent !== undefined && { agent }), ...among } satisfies Omit<TaskQuery, 'limit'>;
    const step = { ...which, before: this.place, limit: Math.max(1, this.nextCount()) };
    const { matches, searched, last } = await this.stores.texts.searchTasks(step, this.query.text);
    this.examined += searched;
    for (let from = 0; from < matches.length; from += this.query.pageSize) {
      const batch = matches.slice(from, from + this.query.pageSize);
      const lastRead = await this.readBatch(batch);
      if (lastRead === matches.at(-1)) break;
      if (lastRead !== batch.at(-1) || this.isOver()) {
        this.place = lastRead;
        this.searched += lastRead.rank;
        return true;
      }
    }
    this.searched += searched;
    this.place = last;
    return last !== undefined;
  }

  /**
   * Reads the runs that may match, as many as fit on the page and in the memory of one response. Returns the last run
   * read.
   */
  private async readBatch(batch: readonly TextMatch[]): Promise<TextMatch> {
    const taskIds = batch.map(({ taskId }) => taskId);
    const listing = { ...this.listing, among: { ...this.listing.among, taskIds } };
    const query = { pageSize: batch.length, before: undefined };
    const begunAt = performance.now();
    const { found, nextPageToken } = await listProcesses(this.stores.tasks, listing, query, this.caller);
    this.readMs = performance.now() - begunAt;
    const left = this.query.pageSize - this.runs.length;
    const fitting = found.filter((run) => containsText(run, this.query.text)).slice(0, left);
    this.runs.push(...fitting);
    const isFull = fitting.length === left;
    const lastId = isFull ? fitting.at(-1)?.runId : nextPageToken === '' ? undefined : found.at(-1)?.runId;
    return batch.find(({ taskId }) => taskId === lastId) ?? batch.at(-1)!;
  }
}

/** Searches the runs of a listing for a text, newest first, within the limits of one request. */
export function searchRuns(...args: ConstructorParameters<typeof RunSearchPass>): Promise<RunPage> {
  return new RunSearchPass(...args).searchRuns();
}

/** True if a run's id, workflow, error or inputs contain a text, ignoring case. */
function containsText(run: Pick<RunSummary, 'runId' | 'workflow' | 'error' | 'inputs'>, text: string): boolean {
  const wanted = text.toLowerCase();
  const { runId, workflow, error, inputs } = run;
  return [runId, workflow, error?.message ?? '', inputsText(inputs)].some((it) => it.toLowerCase().includes(wanted));
}

/** Returns the names and values in the inputs of a run as text, one per line, truncated to a maximum length. */
function inputsText(inputs: JsonValue): string {
  const open = [inputs];
  let text = '';
  while (open.length > 0 && text.length < SEARCHED_CHARACTERS) {
    const value = open.pop()!;
    const members = Array.isArray(value) ? value : isJsonObject(value) ? Object.entries(value).flat() : undefined;
    // Pushed one by one: a long list would not fit into the arguments of one call.
    if (members) for (const member of members.toReversed()) open.push(member);
    else if (typeof value !== 'object') text += `${value}\n`;
  }
  return text.slice(0, SEARCHED_CHARACTERS);
}
