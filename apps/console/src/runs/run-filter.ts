import { textStart } from '../components/text-start.js';

/** Statuses of runs, in the order in which the filter offers them. */
export const RUN_STATUSES = ['running', 'input-required', 'completed', 'failed', 'canceled'] as const;

/** Maximum characters of a search that the service accepts. */
export const LONGEST_SEARCH = 100;

/** Time ranges of the filter: their word in the address, and their milliseconds. */
export const RANGES = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;

/** Filter of the list of runs, as the address of the page has it. Empty texts filter nothing. */
export interface RunFilter {
  /** Part of the inputs, of the error, of the workflow's name or of the run's id. */
  q: string;
  /** Statuses with commas between. */
  status: string;
  workflow: string;
  /** A word of RANGES, or empty. */
  range: string;
  /** Earliest and latest time of a run's last change, in ISO 8601, or empty. `since` is ignored if `range` is set. */
  since: string;
  until: string;
  /** Id of a cause of the overview: the runs that failed by it. */
  cause: string;
}

const MEMBERS = ['q', 'status', 'workflow', 'range', 'since', 'until', 'cause'] as const;
const CAUSE = /^[\w-]{16}$/;

/** Filter that selects all runs. */
export const NO_FILTER: RunFilter = { q: '', status: '', workflow: '', range: '', since: '', until: '', cause: '' };

/** Reads the filter from the query of an address, or of a saved filter. Unknown words are left out. */
export function readRunFilter(query: URLSearchParams): RunFilter {
  const valueOf = (name: (typeof MEMBERS)[number]): string => query.get(name) ?? '';
  const statuses = valueOf('status').split(',');
  return {
    q: textStart(valueOf('q'), LONGEST_SEARCH),
    status: RUN_STATUSES.filter((status) => statuses.includes(status)).join(','),
    workflow: valueOf('workflow'),
    range: valueOf('range') in RANGES ? valueOf('range') : '',
    since: timeOf(valueOf('since')),
    until: timeOf(valueOf('until')),
    cause: CAUSE.test(valueOf('cause')) ? valueOf('cause') : '',
  };
}

/** Returns the query of the address for a filter. */
export function filterQuery(filter: RunFilter): URLSearchParams {
  const given = MEMBERS.filter((name) => filter[name] !== '').map((name) => [name, filter[name]]);
  return new URLSearchParams(given);
}

/**
 * Returns the query parameters of the API for a filter.
 * @param now current time in epoch milliseconds, at which a time range ends
 */
export function apiQuery({ q, status, workflow, range, since, until, cause }: RunFilter, now: number): URLSearchParams {
  const span = RANGES[range as keyof typeof RANGES] as number | undefined;
  const begin = span === undefined ? since : new Date(now - span).toISOString();
  // The service searches no text among the runs of a cause.
  const search = cause === '' ? q.trim() : '';
  const query = { search, status, workflow, since: begin, until, cause };
  return new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
}

/** Returns the number of criteria that a filter sets. */
export function countFilters(filter: RunFilter): number {
  return filterQuery(filter).size;
}

function timeOf(text: string): string {
  const time = Date.parse(text);
  return Number.isNaN(time) ? '' : new Date(time).toISOString();
}
