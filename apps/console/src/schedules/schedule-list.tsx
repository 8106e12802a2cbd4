import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { buttonClass } from '../components/button.js';
import { type Column, DataTable, NameText } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { StatusBadge } from '../components/status-badge.js';
import { Coming } from '../components/time.js';
import { listSchedules, type Schedule } from './schedule-api.js';
import { describeTiming } from './schedule-fields.js';

const COLUMNS: readonly Column<Schedule>[] = [
  { title: 'Schedule', cell: ({ name }) => <NameText name={name} /> },
  { title: 'Workflow', cell: ({ workflow }) => <NameText name={workflow} />, wideOnly: true },
  { title: 'When', cell: describeTiming, className: 'break-words', wideOnly: true },
  { title: 'Next run', cell: (row) => <NextRun schedule={row} /> },
  { title: 'Owner', cell: ({ owner }) => owner || 'anonymous', wideOnly: true },
];

const getName = ({ name }: Schedule): string => name;

/** Shows all schedules with the next time of each. */
export function ScheduleList() {
  const schedules = useQuery({
    queryKey: ['schedules'],
    queryFn: ({ signal }) => listSchedules(signal),
    refetchInterval: 30_000,
  });
  return (
    <div className="flex h-full flex-col">
      <PageHeader
        title="Schedules"
        actions={
          <Link href="/new-schedule" className={buttonClass('primary')}>
            <Plus className="size-4" aria-hidden /> Add a schedule
          </Link>
        }
      />
      <div className="min-h-0 grow overflow-y-auto">
        <ResourceView resource={schedules}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState title="No schedule yet">
                A schedule runs a workflow at given times: every morning, every five minutes, or once.
              </EmptyState>
            ) : (
              <DataTable
                label="Schedules"
                rows={rows}
                columns={COLUMNS}
                keyOf={getName}
                hrefOf={({ name }) => `/named/${name}`}
              />
            )
          }
        </ResourceView>
      </div>
    </div>
  );
}

function NextRun({ schedule: { paused, nextTimes } }: { schedule: Schedule }) {
  const [next] = nextTimes;
  if (paused) return <StatusBadge status="paused" />;
  return next === undefined ? 'no further run' : <Coming at={next} />;
}
