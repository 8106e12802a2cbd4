import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import { type Column, DataTable, NameText } from '../components/data-table.js';
import { EmptyState } from '../components/empty-state.js';
import { Select } from '../components/field.js';
import { PageHeader } from '../components/page-header.js';
import { ResourceView } from '../components/resource-view.js';
import { costText, inputText, outputText } from '../components/usage-text.js';
import { getUsage, type Grouping, GROUPINGS, groupingOf, periodOf, PERIODS, type UsageReport } from './overview-api.js';

const CALLERS = { own: 'My calls', all: 'All callers' } as const;

/** Shows tokens and cost of models by workflow, caller, model or day, for the choices in the address. */
export function UsagePage() {
  const [search, setSearch] = useSearchParams();
  const groupBy = groupingOf(search.get('by'));
  const period = periodOf(search.get('days'));
  const callers = search.get('callers') === 'all' ? 'all' : 'own';
  const resource = useQuery({
    queryKey: ['usage', groupBy, period, callers],
    queryFn: ({ signal }) => getUsage(groupBy, period, callers === 'all', signal),
  });
  const change = (member: Record<string, string>): void =>
    setSearch({ by: groupBy, days: period, callers, ...member }, { replace: true });
  return (
    <>
      <PageHeader
        title="Tokens and cost"
        up={{ label: 'Overview', href: '/' }}
        actions={
          <>
            <Choice label="Group by" value={groupBy} options={GROUPINGS} onChange={(by) => change({ by })} />
            <Choice label="Days" value={period} options={PERIODS} onChange={(days) => change({ days })} />
            <Choice
              label="Callers"
              value={callers}
              options={CALLERS}
              onChange={(whose) => change({ callers: whose })}
            />
          </>
        }
      />
      <ResourceView resource={resource}>{(report) => <Report report={report} groupBy={groupBy} />}</ResourceView>
    </>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: Readonly<Record<string, string>>;
  onChange: (value: string) => void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <Select aria-label={label} value={value} onChange={({ target }) => onChange(target.value)} className="w-32!">
      {Object.entries(options).map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </Select>
  );
}

type UsageLine = UsageReport['groups'][number];

function Report({ report: { total, groups, more }, groupBy }: { report: UsageReport; groupBy: Grouping }) {
  if (groups.length === 0) {
    return (
      <EmptyState title="No model was called in this period">
        Calls of models count for the day on which their answer was recorded. The built-in model counts none.
      </EmptyState>
    );
  }
  return (
    <>
      <DataTable
        label="Usage"
        rows={[...groups, { ...total, key: 'Total' }]}
        keyOf={({ key }) => (key === 'Total' ? ' total' : key)}
        columns={columnsFor(groupBy)}
      />
      {more && <p className="p-4 text-sm text-warning">Further groups are not listed; the total includes them.</p>}
    </>
  );
}

function columnsFor(groupBy: Grouping): readonly Column<UsageLine>[] {
  return [
    { title: GROUPINGS[groupBy], cell: ({ key }) => <NameText name={key === '' ? '–' : key} /> },
    { title: 'Calls', cell: ({ calls }) => calls },
    { title: 'Input tokens', cell: inputText },
    { title: 'Output tokens', cell: outputText, wideOnly: true },
    { title: 'Cost', cell: costText },
    { title: 'Calls without tokens', cell: ({ unreportedCalls }) => unreportedCalls, wideOnly: true },
    { title: 'Calls without a cost', cell: ({ unpricedCalls }) => unpricedCalls, wideOnly: true },
  ];
}
