import { controlLine } from './control-lines.js';
import { eventColor } from './event-color.js';
import { type EventData, formatEvent } from './format-event.js';

/** A line of the console panel: an event of a run. */
export interface ConsoleLine {
  key: string;
  /** Local time of the event, `12:34:56.789`. */
  time: string;
  type: string;
  node?: string | undefined;
  text: string;
  color: string;
}

export interface LineFilter {
  node: string;
  type: string;
  search: string;
}

export const NO_FILTER: LineFilter = { node: '', type: '', search: '' };

const TIME = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

export function toConsoleLine(event: EventData & { type: string; timestamp: string }, key: string): ConsoleLine {
  const { type, timestamp, node_id: node, node_type, model, tool, url, status, error, result, output, message } = event;
  const who = event['instance'] ?? node;
  const shown = { node_id: who, node_type, model, tool, url, status, error, result, output, message };
  const text = controlLine(type, event) ?? formatEvent(shown);
  return {
    key,
    time: TIME.format(new Date(timestamp)),
    type,
    ...(typeof node === 'string' && { node }),
    // An event without any known field shows its payload.
    text: text === '{}' ? JSON.stringify(event['payload'] ?? {}) : text,
    color: (type === 'done' && ENDS[String(status)]) || eventColor(type),
  };
}

/** CSS classes of the `done` event, by the run's status. */
const ENDS: Readonly<Record<string, string>> = {
  failed: 'text-destructive font-semibold',
  canceled: 'text-muted-foreground font-semibold',
};

export function filterLines(lines: readonly ConsoleLine[], filter: LineFilter): readonly ConsoleLine[] {
  const words = filter.search.trim().toLowerCase();
  if (filter.node === '' && filter.type === '' && words === '') return lines;
  return lines.filter(
    ({ node, type, text }) =>
      (filter.node === '' || node === filter.node) &&
      (filter.type === '' || type === filter.type) &&
      (words === '' || `${type} ${text}`.toLowerCase().includes(words)),
  );
}

/** Formats lines as text for the clipboard. */
export function copyOf(lines: readonly ConsoleLine[]): string {
  return lines.map(({ time, type, text }) => `${time} ${type} ${text}`).join('\n');
}
