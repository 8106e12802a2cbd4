import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { TaskLogEvent } from '../api/task.js';
import { useTaskEvents } from '../api/use-task-events.js';
import { ConnectionNote } from '../components/connection-note.js';
import { ErrorState } from '../components/error-state.js';
import { JsonView } from '../components/json-view.js';
import { Loading } from '../components/loading.js';
import { lookOf } from '../components/status-badge.js';
import { VirtualList } from '../components/virtual-list.js';
import { eventLine } from './task-event.js';

const LINE_HEIGHT = 33;
const getSequence = ({ sequence }: TaskLogEvent): number => sequence;

/** Shows every event of a Task from the first one; each event opens as JSON. The list updates live. */
export function TaskEventLog({ taskId }: { taskId: string }) {
  const { events, connection, error } = useTaskEvents(taskId);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const toggleEvent = (sequence: number): void => {
    setOpen((shown) =>
      shown.has(sequence) ? new Set([...shown].filter((it) => it !== sequence)) : new Set([...shown, sequence]),
    );
  };
  if (error !== undefined) return <ErrorState error={error} />;
  if (events.length === 0) return <Loading />;
  return (
    <>
      <p className="flex gap-3 border-b px-4 py-1.5 text-xs text-muted-foreground">
        {events.length} {events.length === 1 ? 'event' : 'events'} <ConnectionNote connection={connection} />
      </p>
      <VirtualList
        label="Events"
        items={events}
        keyOf={getSequence}
        estimate={LINE_HEIGHT}
        render={(event) => (
          <EventRow event={event} open={open.has(event.sequence)} onToggle={() => toggleEvent(event.sequence)} />
        )}
      />
    </>
  );
}

function EventRow({ event, open, onToggle }: { event: TaskLogEvent; open: boolean; onToggle: () => void }) {
  const { kind, title, text, at } = eventLine(event);
  const { Icon, label } = lookOf(title);
  const shownTitle = kind === 'status' || kind === 'task' ? label : title;
  return (
    <div data-sequence={event.sequence} className="border-b">
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className="flex w-full items-center gap-2 px-4 py-1.5 text-left text-sm hover:bg-muted/60"
      >
        <ChevronRight className={`size-3.5 shrink-0 ${open ? 'rotate-90' : ''}`} aria-hidden />
        <span className="w-10 shrink-0 text-right text-xs text-muted-foreground tabular-nums">{event.sequence}</span>
        <Icon className="size-3.5 shrink-0" aria-hidden />
        <span className="shrink-0 font-medium">{shownTitle}</span>
        <span className="min-w-0 grow truncate text-muted-foreground">{text}</span>
        {at !== undefined && (
          <time dateTime={at} className="hidden shrink-0 text-xs text-muted-foreground sm:block">
            {new Date(at).toLocaleTimeString()}
          </time>
        )}
      </button>
      {open && (
        <div className="px-4 pb-3">
          <JsonView value={event.item} label={`Event ${event.sequence}`} />
        </div>
      )}
    </div>
  );
}
