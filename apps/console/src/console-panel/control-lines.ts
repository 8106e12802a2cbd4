import type { EventData } from './format-event.js';

type EventPayload = Readonly<Record<string, unknown>>;

/** Returns the text of an event about waits, choices or iterations; `undefined` for any other event. */
export function controlLine(type: string, event: EventData): string | undefined {
  const say = LINES[type];
  if (!say) return undefined;
  const payload =
    typeof event['payload'] === 'object' && event['payload'] !== null ? (event['payload'] as EventPayload) : {};
  const who = event['instance'] ?? event['node_id'];
  return `${typeof who === 'string' ? `[${who}] ` : ''}${say(payload)}`;
}

const LINES: Readonly<Record<string, (payload: EventPayload) => string>> = {
  'node.skipped': ({ instances, because }) => `${joinNames(instances)}: ${toWord(because)}`,
  'node.retrying': ({ attempt, failure, retryAt }) =>
    `attempt ${toWord(attempt)} failed, the next one at ${formatTime(retryAt)}: ${getFailureMessage(failure)}`,
  'node.waiting': ({ until }) => `waits until ${formatTime(until)}`,
  'node.resumed': () => 'continues without an answer from the run',
  'node.reused': ({ origin }) => `reused from run ${toWord(origin)}`,
  'node.progress': ({ tool, text, artifact }) =>
    `${tool === undefined ? '' : `${toWord(tool)}: `}${toWord(text) || joinArtifactText(artifact)}`,
  'tool.called': ({ tool, taskId }) => `${toWord(tool)} works on task ${toWord(taskId)}`,
  'tool.canceled': ({ tool, outcome }) => `${toWord(tool)} canceled: ${toWord(outcome)}`,
  'budget.exceeded': ({ workflow, limit, spent, unit }) =>
    `the budget of ${toWord(workflow)} is used up: ${toWord(spent)} of ${toWord(limit)} ${unit === 'usd' ? 'US dollars' : 'tokens'}`,
  'edge.error': ({ edge, failure }) => `edge ${toWord(edge)}: ${getFailureMessage(failure)}`,
  'each.started': ({ items }) => `${Array.isArray(items) ? items.length : 0} entries`,
  'loop.next': ({ iteration, at }) =>
    `iteration ${toWord(iteration)}${at === undefined ? '' : ` at ${formatTime(at)}`}`,
  'loop.ended': ({ iterations, reason }) => `ended after ${toWord(iterations)}: ${toWord(reason)}`,
  'parts.left-out': ({ count, kinds }) => `${toWord(count)} Parts left out of its Message: ${joinNames(kinds)}`,
  'result.emptied': () => 'the last iteration made no result',
  'run.parked': ({ until }) => (until === undefined ? 'waits for an answer' : `idle until ${formatTime(until)}`),
  'run.nearly-full': ({ message }) => toWord(message),
  'run.deadline': ({ failure }) => getFailureMessage(failure),
  'run.ending': ({ outcome }) => toWord(outcome),
};

function toWord(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

const MOST_NAMES = 10;

function joinNames(names: unknown): string {
  if (!Array.isArray(names)) return '';
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : '';
  return `${names.slice(0, MOST_NAMES).join(', ')}${more}`;
}

function getFailureMessage(failure: unknown): string {
  return typeof failure === 'object' && failure !== null ? toWord((failure as { message?: unknown }).message) : '';
}

function formatTime(at: unknown): string {
  return typeof at === 'string' ? new Date(at).toLocaleString() : '';
}

/** Returns the joined texts of an Artifact chunk. */
function joinArtifactText(artifact: unknown): string {
  const parts = typeof artifact === 'object' && artifact !== null ? (artifact as { parts?: unknown }).parts : undefined;
  if (!Array.isArray(parts)) return JSON.stringify(artifact ?? {});
  return (parts as { text?: unknown }[]).map(({ text }) => toWord(text)).join('');
}
