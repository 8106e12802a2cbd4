import { useMemo, useState } from 'react';
import { CopyButton } from '../components/json-view.js';
import { type ConsoleLine, copyOf, filterLines, type LineFilter, NO_FILTER } from './console-line.js';
import { LineList } from './line-list.js';

interface ConsolePanelProps {
  lines: readonly ConsoleLine[];
  /** Text that is shown if there are no lines. */
  empty: string;
}

/** Shows the events of a run line by line, as they arrive. */
export function ConsolePanel({ lines, empty }: ConsolePanelProps) {
  const [filter, setFilter] = useState(NO_FILTER);
  const shown = useMemo(() => filterLines(lines, filter), [lines, filter]);
  const nodes = useMemo(() => [...new Set(lines.flatMap(({ node }) => node ?? []))], [lines]);
  const types = useMemo(() => [...new Set(lines.map(({ type }) => type))], [lines]);
  const changeFilter = (member: Partial<LineFilter>): void => setFilter((last) => ({ ...last, ...member }));
  return (
    <section aria-label="Console" className="terminal flex h-full min-h-0 flex-col border-t text-xs">
      <header className="flex shrink-0 flex-wrap items-center gap-2 border-b bg-card px-3 py-1">
        <h2 className="font-semibold">Console</h2>
        <span className="text-muted-foreground" data-count={shown.length}>
          {shown.length === lines.length ? lines.length : `${shown.length} of ${lines.length}`} events
        </span>
        <div className="ml-auto flex min-w-0 flex-wrap items-center gap-2">
          <Choice
            label="Node"
            all="All nodes"
            values={nodes}
            value={filter.node}
            onChange={(node) => changeFilter({ node })}
          />
          <Choice
            label="Type"
            all="All types"
            values={types}
            value={filter.type}
            onChange={(type) => changeFilter({ type })}
          />
          <input
            type="search"
            aria-label="Search the console"
            placeholder="Search …"
            value={filter.search}
            onChange={(event) => changeFilter({ search: event.target.value })}
            className={`${CONTROL} w-32`}
          />
          <CopyButton text={() => copyOf(shown)} label="Copy these lines" />
        </div>
      </header>
      {shown.length === 0 ? (
        <p className="p-3 text-muted-foreground">{lines.length === 0 ? empty : 'No line matches.'}</p>
      ) : (
        <LineList lines={shown} />
      )}
    </section>
  );
}

const CONTROL = 'max-w-40 rounded border border-input bg-background px-1.5 py-0.5 text-foreground';

interface ChoiceProps {
  label: string;
  all: string;
  values: readonly string[];
  value: string;
  onChange: (value: string) => void;
}

function Choice({ label, all, values, value, onChange }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)} className={CONTROL}>
      <option value="">{all}</option>
      {values.map((it) => (
        <option key={it}>{it}</option>
      ))}
    </select>
  );
}
