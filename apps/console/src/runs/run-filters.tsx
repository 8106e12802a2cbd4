import { ListFilter, X } from 'lucide-react';
import { memo, useId, useState } from 'react';
import { Button } from '../components/button.js';
import { Input, Select } from '../components/field.js';
import { lookOf } from '../components/status-badge.js';
import { textStart } from '../components/text-start.js';
import { countFilters, LONGEST_SEARCH, NO_FILTER, RANGES, type RunFilter, RUN_STATUSES } from './run-filter.js';
import { SavedFilterMenu } from './saved-filter-menu.js';

const RANGE_LABELS: Readonly<Record<keyof typeof RANGES, string>> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};
/** Value of the time range menu for a range with a chosen first and last time. */
const CUSTOM = 'custom';

interface RunFiltersProps {
  filter: RunFilter;
  /** Names of workflows to propose. */
  workflows: readonly string[];
  onChange: (filter: RunFilter) => void;
}

function RunFilterBar({ filter, workflows, onChange }: RunFiltersProps) {
  const [isOpen, setOpen] = useState(false);
  const names = useId();
  const changeFilter = (member: Partial<RunFilter>): void => onChange({ ...filter, ...member });
  const count = countFilters({ ...filter, q: '' });
  return (
    <div
      role="search"
      aria-label="Runs"
      className="flex shrink-0 flex-wrap items-center gap-2 border-b bg-card px-4 py-2"
    >
      <Input
        type="search"
        aria-label="Search runs"
        placeholder="Input, error, workflow or id …"
        value={filter.q}
        onChange={({ target }) => changeFilter({ q: textStart(target.value, LONGEST_SEARCH), cause: '' })}
        className="w-auto! min-w-40 grow md:max-w-72"
      />
      <Button aria-expanded={isOpen} className="md:hidden" onClick={() => setOpen(!isOpen)}>
        <ListFilter className="size-4" aria-hidden /> Filters{count > 0 && ` (${count})`}
      </Button>
      <div className={`${isOpen ? 'flex' : 'hidden'} flex-wrap items-center gap-2 md:flex`}>
        <StatusFilter chosen={filter.status} onChange={(status) => changeFilter({ status })} />
        <Input
          aria-label="Workflow"
          placeholder="Every workflow"
          list={names}
          value={filter.workflow}
          onChange={({ target }) => changeFilter({ workflow: target.value })}
          className="w-40!"
        />
        <datalist id={names}>
          {workflows.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </datalist>
        <TimeFilter filter={filter} onChange={changeFilter} />
        {filter.cause !== '' && (
          <Button aria-label="Remove the filter for one cause" onClick={() => changeFilter({ cause: '' })}>
            Failed by one cause <X className="size-4" aria-hidden />
          </Button>
        )}
        <SavedFilterMenu filter={filter} onChange={onChange} />
        {countFilters(filter) > 0 && (
          <Button kind="quiet" onClick={() => onChange(NO_FILTER)}>
            Clear filters
          </Button>
        )}
      </div>
    </div>
  );
}

/**
 * Shows the filters of the list of runs. A narrow window shows the search, and the rest on request. They are not
 * rendered again when a page of runs arrives.
 */
export const RunFilters = memo(RunFilterBar);

function StatusFilter({ chosen, onChange }: { chosen: string; onChange: (status: string) => void }) {
  const statuses = chosen === '' ? [] : chosen.split(',');
  const toggleStatus = (status: string): void => {
    const isOn = statuses.includes(status);
    const next = isOn ? statuses.filter((it) => it !== status) : [...statuses, status];
    onChange(RUN_STATUSES.filter((it) => next.includes(it)).join(','));
  };
  return (
    <div role="group" aria-label="Status" className="flex flex-wrap gap-1">
      {RUN_STATUSES.map((status) => {
        const { Icon, label } = lookOf(status);
        return (
          <button
            key={status}
            type="button"
            aria-pressed={statuses.includes(status)}
            onClick={() => toggleStatus(status)}
            className="inline-flex min-h-8 items-center gap-1 rounded-full border border-input bg-card px-2.5 text-xs font-medium text-muted-foreground hover:bg-muted aria-pressed:border-primary aria-pressed:bg-primary/10 aria-pressed:text-primary"
          >
            <Icon className="size-3.5" aria-hidden /> {label}
          </button>
        );
      })}
    </div>
  );
}

interface TimeFilterProps {
  filter: RunFilter;
  onChange: (member: Partial<RunFilter>) => void;
}

function TimeFilter({ filter: { range, since, until }, onChange }: TimeFilterProps) {
  const [isCustom, setCustom] = useState(since !== '' || until !== '');
  const chooseRange = (word: string): void => {
    setCustom(word === CUSTOM);
    onChange(word === CUSTOM ? { range: '' } : { range: word, since: '', until: '' });
  };
  const isShown = isCustom || since !== '' || until !== '';
  return (
    <>
      <Select
        aria-label="Last change"
        className="w-auto!"
        value={isShown ? CUSTOM : range}
        onChange={({ target }) => chooseRange(target.value)}
      >
        <option value="">Any time</option>
        {Object.entries(RANGE_LABELS).map(([word, label]) => (
          <option key={word} value={word}>
            {label}
          </option>
        ))}
        <option value={CUSTOM}>From … to …</option>
      </Select>
      {isShown && (
        <>
          <TimeInput label="From" at={since} onChange={(at) => onChange({ since: at })} />
          <TimeInput label="To" at={until} onChange={(at) => onChange({ until: at })} />
        </>
      )}
    </>
  );
}

function TimeInput({ label, at, onChange }: { label: string; at: string; onChange: (at: string) => void }) {
  return (
    <Input
      type="datetime-local"
      aria-label={label}
      className="w-auto!"
      value={localInput(at)}
      onChange={({ target }) => onChange(target.value === '' ? '' : new Date(target.value).toISOString())}
    />
  );
}

/** Formats a time as the value of an input of type `datetime-local`: `2026-01-31T09:30`. */
function localInput(at: string): string {
  if (at === '') return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
