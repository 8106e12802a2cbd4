import { briefText, type StreamResponse } from '#libs/protocol';
import { toOneLine } from './event-line.js';
import type { Session } from './session.js';
import type { Terminal } from './terminal.js';

interface ShownTaskEvent {
  sequence: number;
  recordedAt: string;
  event: StreamResponse;
}

interface LogPage {
  events: ShownTaskEvent[];
  next?: number;
}

const LARGEST_PAGE = 200;
const LONGEST = 200;

/** Shows the events of a Task so far, of any agent. */
export async function showTaskLog({ client, signal, terminal }: Session, taskId: string, since: number): Promise<void> {
  let next: number | undefined = since;
  const events: ShownTaskEvent[] = [];
  while (next !== undefined) {
    const query = { after: String(next), limit: String(LARGEST_PAGE) };
    const page: LogPage = await client.call(`/api/tasks/${encodeURIComponent(taskId)}/events`, { query, signal });
    events.push(...page.events);
    next = page.next;
  }
  terminal.writeResult(events, () => events.map((it) => taskLine(it, terminal)).join('\n'));
}

/** Formats an event: time, number, type, and the start of its text. */
function taskLine({ sequence, recordedAt, event }: ShownTaskEvent, terminal: Terminal): string {
  const [what, text] = describeTaskEvent(event);
  const time = terminal.paintText('dim', recordedAt.slice(0, 23).replace('T', ' '));
  return `${time} ${String(sequence).padStart(5)} ${toOneLine(what)} ${briefText(toOneLine(text), LONGEST)}`.trimEnd();
}

function describeTaskEvent(event: StreamResponse): [what: string, text: string] {
  if ('task' in event) return [stateWord(event.task.status.state), firstPartText(event.task.history?.[0]?.parts)];
  if ('statusUpdate' in event) {
    const { status } = event.statusUpdate;
    return [stateWord(status.state), firstPartText(status.message?.parts)];
  }
  if ('artifactUpdate' in event) {
    const { artifactId, name, parts } = event.artifactUpdate.artifact;
    return [`artifact ${name ?? artifactId}`, firstPartText(parts)];
  }
  return ['message', firstPartText(event.message.parts)];
}

function stateWord(state: string): string {
  return state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
}

function firstPartText(parts: readonly { text?: string; data?: unknown; url?: string }[] = []): string {
  const [part] = parts;
  return part?.text ?? part?.url ?? (part?.data === undefined ? '' : JSON.stringify(part.data));
}
