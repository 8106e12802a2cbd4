import { Link } from 'wouter';
import { type Column, DataTable } from '../components/data-table.js';
import { Coming, Time } from '../components/time.js';
import type { Overview, Waits } from './overview-api.js';

interface WaitsRow extends Waits {
  label: string;
}

/** Shows how much work is waiting now, by age, with the oldest item of each kind. */
export function WaitingWork({ waiting: { questions, parked, queued } }: { waiting: Overview['waiting'] }) {
  const rows: WaitsRow[] = [
    { label: 'Open questions', ...questions },
    { label: 'Parked until a time', ...parked },
    { label: 'Not begun', ...queued },
  ];
  return (
    <div className="rounded-md border bg-card">
      <DataTable label="Waiting" rows={rows} keyOf={({ label }) => label} columns={COLUMNS} />
    </div>
  );
}

const COLUMNS: readonly Column<WaitsRow>[] = [
  { title: 'Work', cell: ({ label }) => (label === 'Open questions' ? <InboxLink label={label} /> : label) },
  { title: 'Number', cell: ({ total, more }) => <Count>{more ? `${total}+` : String(total)}</Count> },
  { title: 'Under an hour', cell: ({ underHour }) => <Count>{String(underHour)}</Count>, wideOnly: true },
  { title: 'Under a day', cell: ({ underDay }) => <Count>{String(underDay)}</Count>, wideOnly: true },
  { title: 'Longer', cell: ({ longer }) => <Count>{String(longer)}</Count>, wideOnly: true },
  { title: 'Oldest', cell: ({ oldest }) => oldest && <Oldest oldest={oldest} />, className: 'w-1/2 max-w-0!' },
];

function InboxLink({ label }: { label: string }) {
  return (
    <Link href="~/inbox" className="font-medium underline">
      {label}
    </Link>
  );
}

function Count({ children }: { children: string }) {
  return <span className="tabular-nums">{children}</span>;
}

function Oldest({ oldest: { runId, workflow, since, until, question } }: { oldest: NonNullable<Waits['oldest']> }) {
  return (
    <>
      <Link
        href={`~/runs/${encodeURIComponent(runId)}`}
        title={question ?? workflow}
        className="block truncate font-medium hover:underline"
      >
        {workflow}
        {question !== undefined && `: ${question}`}
      </Link>
      <span className="text-xs text-muted-foreground">
        <Time at={since} />
        {until !== undefined && (
          <>
            , until <Coming at={until} />
          </>
        )}
      </span>
    </>
  );
}
