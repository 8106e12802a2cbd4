import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { GatewayEventFrame } from '../api/gateway.js';
import { useLive } from '../api/use-live.js';
import { buttonClass } from '../components/button.js';
import { ConnectionNote } from '../components/connection-note.js';
import { Select } from '../components/field.js';
import { PageHeader, Section } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { lookOf } from '../components/status-badge.js';
import { costText, inputText, outputText, usageText } from '../components/usage-text.js';
import { FailureTable } from './failure-table.js';
import { getOverview, type Overview, type RangeName, rangeOf, RANGES } from './overview-api.js';
import { WaitingWork } from './waiting-work.js';
import { WorkflowTable } from './workflow-table.js';

/** Minimum milliseconds between two loads: the overview is a costly read. */
const SPACING_MS = 3_000;
/** Types of events that change the numbers of the overview. */
const CHANGES = new Set(['done', 'input.required', 'input.received', 'run.woken', 'run.parked', 'node.started']);

/**
 * Shows failed runs, waiting work, and the duration and cost of runs, for the time range in the address. The page
 * updates live.
 */
export function OverviewPage() {
  const [search, setSearch] = useSearchParams();
  const range = rangeOf(search.get('range'));
  const queryKey = ['overview', range];
  const resource = useQuery({ queryKey, queryFn: ({ signal }) => getOverview(range, signal) });
  const connection = useLive(queryKey, { streams: ['run'] }, { concerns: isChange, spacing: SPACING_MS });
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title="Overview"
        aside={<ConnectionNote connection={connection} />}
        actions={
          <>
            <Link href="/usage" className={buttonClass()}>
              Tokens and cost
            </Link>
            <Select
              aria-label="Range"
              value={range}
              onChange={({ target }) => setSearch({ range: target.value }, { replace: true })}
              className="w-36!"
            >
              {Object.entries(RANGES).map(([name, { label }]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </Select>
          </>
        }
      />
      <ResourceView resource={resource}>{(data) => <OverviewBody overview={data} range={range} />}</ResourceView>
    </div>
  );
}

function isChange({ type, node_id }: GatewayEventFrame): boolean {
  return type === 'node.started' ? node_id === undefined : CHANGES.has(String(type));
}

function OverviewBody({ overview, range }: { overview: Overview; range: RangeName }) {
  const { failures, workflows, waiting, more, moreBefore, moreFailures, moreWorkflows } = overview;
  return (
    <div className="min-h-0 grow space-y-6 overflow-y-auto p-4">
      <Counts overview={overview} range={range} />
      {(more || moreBefore) && (
        <Note>There are more runs than are counted: the numbers are too low. Choose a shorter range.</Note>
      )}
      <Section title="Failures by cause">
        <FailureTable causes={failures} range={range} />
        {moreFailures && <Note>Further failures are not listed.</Note>}
      </Section>
      <Section title="Waiting">
        <WaitingWork waiting={waiting} />
      </Section>
      <Section title="Workflows">
        <WorkflowTable lines={workflows} />
        {moreWorkflows && <Note>Further workflows are not listed.</Note>}
        <Total overview={overview} />
      </Section>
    </div>
  );
}

const SHOWN = ['failed', 'input-required', 'running', 'completed', 'canceled'] as const;

/** Shows the number of runs by status, each with the number in the preceding range. */
function Counts({ overview: { runs, before }, range }: { overview: Overview; range: RangeName }) {
  return (
    <section aria-label="Runs">
      <ul className="grid grid-cols-2 gap-2 sm:grid-cols-3 lg:grid-cols-5">
        {SHOWN.map((status) => {
          const { label, Icon, className } = lookOf(status);
          return (
            <li
              key={status}
              data-count-of={status}
              className="relative rounded-md border bg-card p-3 hover:bg-muted/60"
            >
              <Link
                href={`~/runs?status=${status}`}
                className="flex items-center gap-1.5 text-sm before:absolute before:inset-0 hover:underline"
              >
                <span className={`rounded-full border p-0.5 ${className}`}>
                  <Icon className="size-3.5" aria-hidden />
                </span>
                {label}
              </Link>
              <p className="text-2xl font-semibold tabular-nums">{runs[status]}</p>
              <p className="text-xs text-muted-foreground">
                {before[status]} {RANGES[range].before}
              </p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Shows the number of all model calls, with their tokens and cost. */
function Total({ overview: { usage, usageDays } }: { overview: Overview }) {
  const { since, until } = usageDays;
  return (
    <p className="text-sm text-muted-foreground" title={usageText(usage)}>
      Models from {since} to {until} (UTC): {inputText(usage)} input tokens, {outputText(usage)} output tokens, cost{' '}
      {costText(usage)}.
    </p>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className="text-sm text-warning">{children}</p>;
}
