import type { EventData } from './format-event.js';

type Payload = Readonly<Record<string, unknown>>;

/** Returns the line for an event about waits, choices and iterations; `undefined` for any other event. */
export function controlLine(type: string, event: EventData): string | undefined {
  const say = LINES[type];
  if (!say) return undefined;
  const payload =
    typeof event['payload'] === 'object' && event['payload'] !== null ? (event['payload'] as Payload) : {};
  const who = event['instance'] ?? event['node_id'];
  return `${typeof who === 'string' ? `[${who}] ` : ''}${say(payload)}`;
}

const LINES: Readonly<Record<string, (payload: Payload) => string>> = {
  'node.skipped': ({ instances, because }) => `${listed(instances)}: ${word(because)}`,
  'node.retrying': ({ attempt, failure, retryAt }) =>
    `attempt ${word(attempt)} failed, the next one at ${clock(retryAt)}: ${messageOf(failure)}`,
  'node.waiting': ({ until }) => `waits until ${clock(until)}`,
  'node.resumed': () => 'goes on without an answer of the run',
  'node.reused': ({ origin }) => `taken over from run ${word(origin)}`,
  'node.progress': ({ tool, text, artifact }) =>
    `${tool === undefined ? '' : `${word(tool)}: `}${word(text) || textOf(artifact)}`,
  'tool.called': ({ tool, taskId }) => `${word(tool)} works on task ${word(taskId)}`,
  'tool.canceled': ({ tool, outcome }) => `${word(tool)} canceled: ${word(outcome)}`,
  'edge.error': ({ edge, failure }) => `edge ${word(edge)}: ${messageOf(failure)}`,
  'each.started': ({ items }) => `${Array.isArray(items) ? items.length : 0} entries`,
  'loop.next': ({ iteration, at }) => `iteration ${word(iteration)}${at === undefined ? '' : ` at ${clock(at)}`}`,
  'loop.ended': ({ iterations, reason }) => `ended after ${word(iterations)}: ${word(reason)}`,
  'parts.left-out': ({ count, kinds }) => `${word(count)} left out of what it was told: ${listed(kinds)}`,
  'result.emptied': () => 'the last iteration made no result',
  'run.parked': ({ until }) => (until === undefined ? 'waits for an answer' : `nothing happens until ${clock(until)}`),
  'run.nearly-full': ({ message }) => word(message),
  'run.deadline': ({ failure }) => messageOf(failure),
  'run.ending': ({ outcome }) => word(outcome),
};

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const MOST_NAMES = 10;

function listed(names: unknown): string {
  if (!Array.isArray(names)) return '';
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : '';
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}

function messageOf(failure: unknown): string {
  return typeof failure === 'object' && failure !== null ? word((failure as { message?: unknown }).message) : '';
}

function clock(at: unknown): string {
  return typeof at === 'string' ? new Date(at).toLocaleString() : '';
}

/** Returns the joined texts of an Artifact chunk. */
function textOf(artifact: unknown): string {
  const parts = typeof artifact === 'object' && artifact !== null ? (artifact as { parts?: unknown }).parts : undefined;
  if (!Array.isArray(parts)) return JSON.stringify(artifact ?? {});
  return (parts as { text?: unknown }[]).map(({ text }) => word(text)).join('');
}
