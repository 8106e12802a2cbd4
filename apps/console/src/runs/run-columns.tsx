import { useMemo } from 'react';
import type { Column } from '../components/data-table.js';
import { NameText } from '../components/data-table.js';
import { localTime } from '../components/local-time.js';
import { StatusBadge } from '../components/status-badge.js';
import { textStart } from '../components/text-start.js';
import { Elapsed, StartTime, Time } from '../components/time.js';
import { costText, usageText } from '../components/usage-text.js';
import type { RunSummary } from './run-api.js';

/** Maximum characters of a run's inputs that are shown. */
const LONGEST_INPUTS = 200;

/**
 * Returns the columns of the list of runs: the same array until a column comes or goes. The columns for inputs,
 * causes and costs are left out if no run has any.
 */
export function useRunColumns(runs: readonly RunSummary[]): readonly Column<RunSummary>[] {
  const hasInputs = runs.some(({ inputs }) => Object.keys(inputs).length > 0);
  const hasCause = runs.some((run) => reasonOf(run) !== undefined);
  const hasCost = runs.some(({ usage }) => usage !== undefined);
  return useMemo(() => columnsOf({ hasInputs, hasCause, hasCost }), [hasInputs, hasCause, hasCost]);
}

/** Columns that some run of the list has a value for. */
interface FilledColumns {
  hasInputs: boolean;
  hasCause: boolean;
  hasCost: boolean;
}

/** Returns the columns. From a window of 1,280 pixels on, a name of 24 characters has room in wide fonts too. */
function columnsOf({ hasInputs, hasCause, hasCost }: FilledColumns): readonly Column<RunSummary>[] {
  return [
    {
      title: 'Workflow',
      cell: ({ workflow }) => <NameText name={workflow} />,
      className: 'md:w-40 xl:w-64 2xl:w-96',
    },
    { title: 'Status', cell: (run) => <Status run={run} />, className: 'w-28 md:w-32 2xl:w-36' },
    { title: 'Run', cell: ({ runId }) => <RunId id={runId} />, wideOnly: true, className: 'md:w-24 2xl:w-28' },
    ...(hasInputs ? [INPUTS] : []),
    ...(hasCause ? [CAUSE] : []),
    {
      title: 'Began',
      cell: ({ createdAt }) => <StartTime at={createdAt} />,
      wideOnly: true,
      className: 'md:w-36 2xl:w-40',
    },
    {
      title: 'Took',
      cell: (run) => <Elapsed from={run.createdAt} to={endOf(run)} />,
      wideOnly: true,
      className: 'md:w-20 2xl:w-24',
    },
    ...(hasCost ? [COST] : []),
    { title: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} />, className: 'w-28 md:w-32 2xl:w-36' },
  ];
}

const INPUTS: Column<RunSummary> = {
  title: 'Inputs',
  cell: ({ inputs }) => <span title={inputsText(inputs)}>{inputsText(inputs)}</span>,
  wideOnly: true,
};
const CAUSE: Column<RunSummary> = {
  title: 'Why',
  cell: (run) => <span title={reasonOf(run)}>{reasonOf(run)}</span>,
  wideOnly: true,
};

const COST: Column<RunSummary> = {
  title: 'Cost',
  cell: ({ usage }) => (usage ? <span title={usageText(usage)}>{costText(usage)}</span> : '–'),
  wideOnly: true,
  className: 'md:w-24 2xl:w-28',
};

/** Shows the status of a run. In a narrow window, which has no column for the reason, it shows the reason as well. */
function Status({ run }: { run: RunSummary }) {
  const reason = reasonOf(run);
  return (
    <>
      <StatusBadge status={run.status} />
      {reason !== undefined && <span className="block truncate text-xs text-muted-foreground md:hidden">{reason}</span>}
    </>
  );
}

/** Returns the error of a failed run, or what a run waits for; `undefined` for any other run. */
export function reasonOf({ error, waitsFor }: Pick<RunSummary, 'error' | 'waitsFor'>): string | undefined {
  if (error !== undefined || waitsFor === undefined) return error?.message;
  const { instance, question, questions, until, slot } = waitsFor;
  if (slot) return slotText(slot);
  const time = until === undefined ? undefined : `until ${localTime(until, Date.now())}`;
  if (instance === undefined) return time && `Waits ${time} for a time, an attempt or an agent`;
  const more = questions === undefined ? '' : ` (and ${questions - 1} more)`;
  return `Waits for ${instance}: ${question ?? ''}${more}${time === undefined ? '' : `, ${time}`}`;
}

/** Describes the wait of a run for others of its workflow to end. */
function slotText({ limit, key, place, since }: NonNullable<NonNullable<RunSummary['waitsFor']>['slot']>): string {
  const of = key === undefined ? '' : ` of "${textStart(key, 40)}"`;
  const runs = limit === 1 ? 'another run' : `${limit} other runs`;
  return `Waits for ${runs}${of} to end: place ${place}, since ${localTime(since, Date.now())}`;
}

/** Shows the end of a run's id: ids begin with the time, so only their ends differ clearly. */
function RunId({ id }: { id: string }) {
  return (
    <span title={id} className="font-mono text-xs whitespace-nowrap">
      …{id.slice(-8)}
    </span>
  );
}

function inputsText(inputs: Record<string, unknown>): string {
  const pairs = Object.entries(inputs).map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`;
  });
  return textStart(pairs.join(', '), LONGEST_INPUTS);
}

function endOf({ status, updatedAt }: RunSummary): string | undefined {
  return status === 'running' || status === 'input-required' ? undefined : updatedAt;
}
