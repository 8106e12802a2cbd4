import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { MoreButton, ResourceView } from '../components/resource-view.js';
import { lookOf, StatusBadge } from '../components/status-badge.js';
import { getInstanceName } from './causes.js';
import { parseInstanceName } from './instance-name.js';
import { barOf } from './list-bar.js';
import type { ListPicture, NodePicture } from './node-picture.js';
import { type InstanceSummary, listInstances } from './run-api.js';

interface InstanceListProps {
  runId: string;
  node: NodePicture;
  list: ListPicture;
  onSelect: (name: string) => void;
}

/** Minimum milliseconds between two loads of a changing list. */
const SPACING_MS = 1500;

/** Shows the entries of a node's list, and how many have each status. */
export function InstanceList({ runId, node, list, onSelect }: InstanceListProps) {
  const [status, setStatus] = useState('');
  const parts = barOf(list, node.status);
  return (
    <section aria-label="Entries" className="space-y-2">
      <h3 className="text-sm font-medium">
        {list.items.length} {list.items.length === 1 ? 'entry' : 'entries'}
      </h3>
      <div role="group" aria-label="Entries by status" className="flex flex-wrap gap-1">
        <Choice label={`All ${list.items.length}`} active={status === ''} onChoose={() => setStatus('')} />
        {parts.map((part) => (
          <Choice
            key={part.status}
            label={`${part.count} ${lookOf(part.status).label.toLowerCase()}`}
            active={status === part.status}
            onChoose={() => setStatus(part.status)}
          />
        ))}
      </div>
      <Entries
        key={status}
        runId={runId}
        name={getInstanceName(node)}
        status={status}
        counts={JSON.stringify(list.counts)}
        onSelect={onSelect}
      />
    </section>
  );
}

interface EntriesProps {
  runId: string;
  name: string;
  status: string;
  /** Counts by status as a text; the list is reloaded whenever this text changes. */
  counts: string;
  onSelect: (name: string) => void;
}

function Entries({ runId, name, status, counts, onSelect }: EntriesProps) {
  const resource = useInfiniteQuery({
    queryKey: ['entries', runId, name, status],
    queryFn: ({ pageParam, signal }) =>
      listInstances(runId, { node: parseInstanceName(name).node, status }, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
  });
  useSpaced(counts, resource.refetch);
  return (
    <ResourceView resource={resource}>
      {({ pages }) => (
        <>
          <Rows
            rows={pages.flatMap(({ instances }) => instances).filter(({ instance }) => instance.startsWith(`${name}[`))}
            onSelect={onSelect}
          />
          <MoreButton list={resource} />
        </>
      )}
    </ResourceView>
  );
}

function Rows({ rows, onSelect }: { rows: readonly InstanceSummary[]; onSelect: (name: string) => void }) {
  return (
    <ul className="max-h-72 divide-y overflow-y-auto max-md:max-h-none rounded-md border text-sm">
      {rows.map((row) => (
        <li key={row.instance}>
          <button
            type="button"
            data-entry={row.instance}
            className="flex w-full items-center gap-2 px-2 py-1 text-left hover:bg-muted/60"
            onClick={() => onSelect(row.instance)}
          >
            <span className="shrink-0 font-mono text-xs">{row.instance}</span>
            <span className="min-w-0 grow truncate text-xs text-muted-foreground">{describeFailure(row)}</span>
            <StatusBadge status={row.status} />
          </button>
        </li>
      ))}
      {rows.length === 0 && <li className="px-2 py-1 text-muted-foreground">None yet.</li>}
    </ul>
  );
}

/** Calls `work` after `value` has changed, at most once per SPACING_MS. */
function useSpaced(value: string, work: () => unknown): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const seen = useRef(value);
  useEffect(() => {
    if (seen.current === value || timer.current !== undefined) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      seen.current = value;
      work();
    }, SPACING_MS);
  }, [value, work]);
  useEffect(() => () => clearTimeout(timer.current), []);
}

function Choice({ label, active, onChoose }: { label: string; active: boolean; onChoose: () => void }) {
  return (
    <button
      type="button"
      aria-pressed={active}
      onClick={onChoose}
      className={`rounded-full border px-2 py-0.5 text-xs ${active ? 'bg-muted font-medium' : 'hover:bg-muted/60'}`}
    >
      {label}
    </button>
  );
}

function describeFailure({ error, attempts }: InstanceSummary): string {
  const message = typeof error === 'string' ? error : error?.message;
  return [attempts > 1 ? `${attempts} attempts` : undefined, message].filter((it) => it !== undefined).join(': ');
}
