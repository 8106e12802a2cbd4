import type { AnyRunEvent, Schemas } from '#libs/client';
import { briefText, type StreamResponse } from '#libs/protocol';
import type { Session } from './session.js';
import { type Terminal, toOneLine } from './terminal.js';

const COLOURS: Readonly<Record<string, 'red' | 'green' | 'yellow' | 'blue' | 'cyan'>> = {
  'node.started': 'blue',
  'node.completed': 'green',
  'node.error': 'red',
  'node.retrying': 'yellow',
  'input.required': 'yellow',
  'workflow.failed': 'red',
  done: 'cyan',
};
const LONGEST = 200;

/** Formats an event of a run as one line: time, type, node, and a summary. */
export function eventLine(event: AnyRunEvent, terminal: Terminal): string {
  const time = terminal.paintText('dim', clockTime(event.timestamp));
  const colour = COLOURS[event.type];
  const type = event.type.padEnd(15);
  const where = event.instance ?? event.node_id;
  const parts = [where === undefined ? '' : `[${where}]`, describeEvent(event)].filter((part) => part !== '');
  return `${time} ${colour === undefined ? type : terminal.paintText(colour, type)} ${parts.join(' ')}`.trimEnd();
}

function describeEvent({ type, payload, ...event }: AnyRunEvent): string {
  const { question, text, error, message, status, tool, model, url, reason, because, until, instances } = payload;
  const { failure, retryAt, items, iteration, outcome } = payload;
  // The message of a failed node repeats the error.
  const words = error === undefined ? messageText(message) : undefined;
  const named: [string, unknown][] = [
    ['', messageText(question) ?? text ?? words ?? progressText(type, payload)],
    ['', type === 'node.started' && event.node_id === undefined ? payload['workflow'] : undefined],
    ['', Array.isArray(instances) ? instances.join(', ') : undefined],
    ['', type === 'a2a.sending' ? `→ ${toOneLine(url ?? event['url'])}` : undefined],
    ['model=', model],
    ['tool=', tool],
    ['status=', type === 'done' || type === 'a2a.received' ? status : undefined],
    [
      'error: ',
      error ?? (type === 'node.retrying' ? (failure as { message?: string } | undefined)?.message : undefined),
    ],
    ['until ', until ?? retryAt],
    ['items=', Array.isArray(items) ? items.length : undefined],
    ['iteration=', iteration],
    ['', outcome],
    ['', reason ?? because],
    ['', payload['args'] ?? payload['result']],
    ['', type === 'node.completed' || type === 'node.reused' ? nodeResult(payload) : undefined],
  ];
  const line = named
    .filter(([, value]) => value !== undefined && value !== null && value !== '')
    .map(([name, value]) => name + toOneLine(value))
    .join(' ');
  return briefText(line, LONGEST);
}

/** Returns the text that a node produced, or its data if there is no text. */
function nodeResult({ output, artifacts }: AnyRunEvent['payload']): unknown {
  if (output !== undefined) return output;
  const parts = (artifacts as { parts?: { data?: unknown }[] }[] | undefined)?.flatMap((it) => it.parts ?? []);
  return parts?.find(({ data }) => data !== undefined)?.data;
}

/**
 * Returns the text of a `node.progress` event: a chunk of the Artifact that the agent streams. Returns `undefined` for
 * any other event.
 */
function progressText(type: string, { artifact }: AnyRunEvent['payload']): unknown {
  return type === 'node.progress' ? messageText((artifact as { parts?: unknown } | undefined)?.parts) : undefined;
}

/** Returns the text of an event's message: agents send lists of Parts, the service sends texts. */
function messageText(message: unknown): unknown {
  return Array.isArray(message)
    ? (message as { text?: string }[]).find(({ text }) => text !== undefined)?.text
    : message;
}

function clockTime(timestamp: string): string {
  const time = new Date(timestamp);
  const padNumber = (number: number, digits = 2): string => String(number).padStart(digits, '0');
  return `${padNumber(time.getHours())}:${padNumber(time.getMinutes())}:${padNumber(time.getSeconds())}.${padNumber(time.getMilliseconds(), 3)}`;
}

type ShownTaskEvent = Schemas['LoggedEventView'];

const LARGEST_PAGE = 200;
const LONGEST_TASK_LINE = 200;

/**
 * Shows the events that a Task's log has now, for a Task of any agent.
 * @param since sequence after which the events begin; 0 for all events
 */
export async function showTaskLog({ client, signal, terminal }: Session, taskId: string, since: number): Promise<void> {
  let next: number | undefined = since;
  const events: ShownTaskEvent[] = [];
  while (next !== undefined) {
    const query = { after: String(next), limit: String(LARGEST_PAGE) };
    const path = `/api/tasks/${encodeURIComponent(taskId)}/events` as const;
    const page: Schemas['TaskLogView'] = await client.call(path, { query, signal });
    events.push(...page.events);
    next = page.next;
  }
  terminal.writeResult(events, () => events.map((it) => taskLine(it, terminal)).join('\n'));
}

/** Formats an event of a Task's log as one line: time, number, type, and the start of its text. */
function taskLine({ sequence, recordedAt, event }: ShownTaskEvent, terminal: Terminal): string {
  const [what, text] = describeTaskEvent(event as StreamResponse);
  const time = terminal.paintText('dim', recordedAt.slice(0, 23).replace('T', ' '));
  return `${time} ${String(sequence).padStart(5)} ${toOneLine(what)} ${briefText(toOneLine(text), LONGEST_TASK_LINE)}`.trimEnd();
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

/** Returns the word of a Task's state, such as `input-required`. */
export function stateWord(state: string): string {
  return state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
}

function firstPartText(parts: readonly { text?: string; data?: unknown; url?: string }[] = []): string {
  const [part] = parts;
  return part?.text ?? part?.url ?? (part?.data === undefined ? '' : JSON.stringify(part.data));
}
