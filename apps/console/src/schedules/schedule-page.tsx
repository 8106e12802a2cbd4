import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { queries, retryFailed } from '../api/queries.js';
import { type Action, useAction } from '../api/use-action.js';
import { usePages } from '../api/use-pages.js';
import { Button, buttonClass } from '../components/button.js';
import { ActionError, CommandButton } from '../components/command-button.js';
import { type Column, DataTable } from '../components/data-table.js';
import { ErrorState } from '../components/error-state.js';
import { JsonView } from '../components/json-view.js';
import { Loading } from '../components/loading.js';
import { PageHeader, Section } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { StartTime } from '../components/time.js';
import { NextTimes } from './next-times.js';
import {
  deleteSchedule,
  type Firing,
  getFirings,
  getSchedule,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  type Schedule,
} from './schedule-api.js';
import { describeTiming, OVERLAPS } from './schedule-fields.js';

const UP = { label: 'Schedules', href: '/' };
/** Milliseconds between two refreshes of the times and the history while the page is open. */
const REFRESH_MS = 5_000;

/** Shows a schedule: its next times, its rules, and the history of its times. */
export function SchedulePage({ name }: { name: string }) {
  const action = useAction();
  const schedule = useQuery({
    queryKey: ['schedule', name],
    queryFn: ({ signal }) => getSchedule(name, signal),
    refetchInterval: REFRESH_MS,
  });
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title={name}
        up={UP}
        aside={schedule.data?.paused && <StatusBadge status="paused" />}
        actions={schedule.data && <Actions schedule={schedule.data} action={action} />}
      />
      <ActionError action={action} />
      <div className="min-h-0 grow overflow-y-auto">
        <ResourceView resource={schedule}>
          {(data) => (
            <div className="mx-auto max-w-4xl space-y-6 p-4 md:p-6">
              <Facts schedule={data} />
              <Section title="Next times">
                {data.paused ? (
                  <p className="text-sm text-muted-foreground">The schedule is paused. {data.note}</p>
                ) : (
                  <NextTimes times={data.nextTimes} />
                )}
              </Section>
              {Object.keys(data.inputs).length > 0 && (
                <Section title="Inputs">
                  <JsonView value={data.inputs} />
                </Section>
              )}
              <Section title="History">
                <History name={name} />
              </Section>
            </div>
          )}
        </ResourceView>
      </div>
    </div>
  );
}

function Actions({ schedule: { name, paused }, action }: { schedule: Schedule; action: Action }) {
  const [, navigate] = useLocation();
  const show = async (work: Promise<Schedule>): Promise<void> => {
    queries.setQueryData(['schedule', name], await work);
  };
  const runNow = async (): Promise<void> => {
    const { runId } = await runSchedule(name);
    navigate(`~/runs/${encodeURIComponent(runId)}`);
  };
  const remove = async (): Promise<void> => {
    await deleteSchedule(name);
    navigate('/');
  };
  return (
    <>
      <CommandButton action={action} work={runNow}>
        Run now
      </CommandButton>
      {paused ? (
        <CommandButton action={action} work={() => show(resumeSchedule(name))}>
          Resume
        </CommandButton>
      ) : (
        <CommandButton action={action} work={() => show(pauseSchedule(name))}>
          Pause
        </CommandButton>
      )}
      <Link href={`/named/${name}/edit`} className={buttonClass()}>
        Edit
      </Link>
      <CommandButton
        kind="danger"
        action={action}
        question={`Delete ${name} and its history? Its runs stay.`}
        work={remove}
      >
        Delete
      </CommandButton>
    </>
  );
}

function Facts({ schedule }: { schedule: Schedule }) {
  const { workflow, overlap, catchUp, jitter, owner, pauseAfterFailures } = schedule;
  const facts = [
    ['When', describeTiming(schedule)],
    ['If an earlier run has not ended', OVERLAPS[overlap]],
    ['Late by at most', catchUp],
    ...(jitter === undefined ? [] : [['Spread', jitter]]),
    ...(pauseAfterFailures === undefined ? [] : [['Pause after failed runs', String(pauseAfterFailures)]]),
    ['Runs belong to', owner || 'anonymous'],
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
      <dt className="text-muted-foreground">Workflow</dt>
      <dd className="min-w-0 break-words">
        <Link href={`~/workflows/${encodeURIComponent(workflow)}`} className="font-medium underline">
          {workflow}
        </Link>
      </dd>
      {facts.map(([title, text]) => [
        <dt key={`${title}-title`} className="text-muted-foreground">
          {title}
        </dt>,
        <dd key={title} className="min-w-0 break-words">
          {text}
        </dd>,
      ])}
    </dl>
  );
}

const CAUSES = { time: 'its time', backfill: 'backfill', request: 'run now' } as const satisfies Record<
  Firing['cause'],
  string
>;

const COLUMNS: readonly Column<Firing>[] = [
  { title: 'Time', cell: ({ due }) => <StartTime at={due} /> },
  { title: 'Result', cell: (row) => <Outcome firing={row} /> },
  { title: 'Cause', cell: ({ cause }) => CAUSES[cause], wideOnly: true },
  { title: 'Reason', cell: ({ reason }) => reason ?? '', className: 'break-words', wideOnly: true },
];

const keyOfFiring = ({ id }: Firing): string => id;

/** Shows the history of a schedule, the newest time first. */
function History({ name }: { name: string }) {
  const { rows, error, more, loading, loadMore } = usePages(
    ['schedule', name, 'firings'],
    keyOfFiring,
    (token, signal) => getFirings(name, token, signal),
  );
  useEffect(() => {
    const refresh = (): void =>
      void queries.invalidateQueries({ queryKey: ['schedule', name, 'firings'], exact: true });
    const timer = setInterval(refresh, REFRESH_MS);
    return () => clearInterval(timer);
  }, [name]);
  if (rows === undefined) return error === null ? <Loading /> : <ErrorState error={error} onRetry={retryFailed} />;
  if (rows.length === 0) return <p className="text-sm text-muted-foreground">The schedule has not fired yet.</p>;
  return (
    <>
      <DataTable label="History" rows={rows} columns={COLUMNS} keyOf={keyOfFiring} />
      {more && (
        <Button disabled={loading} onClick={loadMore}>
          Show earlier times
        </Button>
      )}
    </>
  );
}

/** Shows what came of a time, with a link to its run if there is one. */
function Outcome({ firing: { state, runId } }: { firing: Firing }) {
  if (runId === undefined) return <StatusBadge status={state} />;
  return (
    <Link href={`~/runs/${encodeURIComponent(runId)}`} className="hover:underline">
      <StatusBadge status={state} />
    </Link>
  );
}
