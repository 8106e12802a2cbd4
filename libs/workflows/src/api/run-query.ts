import {
  malformedRequest,
  type PagePosition,
  parsePageToken,
  QueryPageSize,
  QueryPosition,
  QueryText,
  QueryTime,
} from '#libs/http-server';
import type { TaskState } from '#libs/protocol';
import { WORKFLOW_NAME } from '#libs/workflow-definition';
import type { RunStatus } from '#libs/workflow-engine';
import { CAUSE_ID } from './overview.dto.js';
import { STATES_OF } from './run.dto.js';

const MAX_SEARCH = 100;
const RUN = /^[\x21-\x7e]{1,200}$/;
const CAUSE = /^[\w-]{16}$/;
const STATUSES = Object.keys(STATES_OF);
const IS_SHORT = [
  (text: string): boolean => text.length <= MAX_SEARCH,
  `must have at most ${MAX_SEARCH} characters`,
] as const;

/** Query parameters that select runs by values that a database index contains. */
class IndexedRunQuery {
  @QueryText((name) => WORKFLOW_NAME.test(name), 'is not a name of a workflow', { example: 'greeting' })
  workflow?: string;

  @QueryText(isStatusList, `must be one of ${STATUSES.join(', ')}, or several of them with commas between`, {
    description: `One or several of ${STATUSES.map((it) => `\`${it}\``).join(', ')}, with commas between.`,
    example: 'failed,canceled',
  })
  status?: string;

  @QueryTime({ description: 'Only runs updated since this time.', example: '2026-01-31T09:30:00Z' })
  since?: Date;

  @QueryTime({ description: 'Only runs last updated before this time.', example: '2026-02-01T00:00:00Z' })
  until?: Date;

  /** Task states of the selected runs; `undefined`: all states. */
  get states(): TaskState[] | undefined {
    if (!this.status) return undefined;
    const statuses = new Set(this.status.split(',') as RunStatus[]);
    return [...statuses].flatMap((status) => STATES_OF[status]);
  }
}

/** Query parameters that select runs. */
export class RunFilterQuery extends IndexedRunQuery {
  @QueryText((id) => RUN.test(id), 'is not an id of a run', {
    description: 'Lists the child runs of this run; without it, only top-level runs are listed.',
    example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e',
  })
  parent?: string;

  @QueryText(...IS_SHORT, {
    description: "Part of the workflow's name, ignoring case, or prefix of the run's id.",
    example: 'greet',
  })
  q?: string;

  @QueryText(...IS_SHORT, {
    description:
      "Part of the inputs, of the error, of the workflow's name or of the run's id, ignoring case. " +
      'A page searches a limited number of runs, newest first; `search.until` says how far. Follow `nextPageToken` ' +
      'to search older runs.',
    example: 'order 4711',
  })
  search?: string;

  @QueryText((id) => CAUSE.test(id), 'is not an id of a cause', {
    description:
      'Id of a cause in `GET /api/overview`: lists the runs that failed by it, among the 500 newest failed runs of the ' +
      'range. Cannot be combined with `search` or `parent`.',
    example: CAUSE_ID,
  })
  cause?: string;
}

/** Query parameters that select the runs to count. */
export class RunCountQuery extends IndexedRunQuery {
  /**
   * Error text for an unknown parameter. Such a parameter is rejected, because other parameters of the list of runs,
   * such as `q`, would otherwise be dropped, and too many runs would be counted.
   */
  static readonly unknown = 'is not known';
}

/** Query parameters that select the runs of an action. */
export class BulkFilterQuery extends RunFilterQuery {
  /**
   * Error text for an unknown parameter. Such a parameter is rejected, because a misspelled one would otherwise be
   * dropped, and the action would apply to more runs.
   */
  static readonly unknown = 'is not known';
}

/** Query parameters of an export of runs. */
export class RunExportQuery extends RunFilterQuery {
  @QueryText((id) => RUN.test(id), 'is not an id of a run', {
    description:
      'Id of the last run of an earlier export. With its `updatedAt` as `until`, the export continues after that run.',
    example: '019a1f0e-5b7a-7c31-9d42-6f1c2b3a4d5e',
  })
  after?: string;

  /**
   * Filter of the export, and the position after which it begins.
   * @throws ProblemError 400 for `after` without `until`
   */
  get selection(): { filter: RunFilterQuery; before?: PagePosition } {
    const { after, until, ...rest } = this;
    if (after === undefined) return { filter: this };
    if (until === undefined)
      throw malformedRequest({ path: 'until', detail: 'is missing: give the updatedAt of the run of `after`' });
    return { filter: Object.assign(new RunFilterQuery(), rest), before: { updatedAt: until, taskId: after } };
  }
}

/** Query parameters of the list of runs. */
export class RunQuery extends RunFilterQuery {
  @QueryPageSize()
  pageSize = 50;

  @QueryPosition()
  pageToken?: string;

  /** Position of the last run of the previous page; `undefined` on the first page. */
  get before(): PagePosition | undefined {
    return parsePageToken(this.pageToken);
  }
}

function isStatusList(text: string): boolean {
  const words = text.split(',');
  return words.length <= STATUSES.length && words.every((word) => STATUSES.includes(word));
}
