/** What a line of the console is made of: an event's fields. */
export type EventData = Readonly<Record<string, unknown>>;

/** The parts of a line, in their order. */
const PARTS: readonly [string, (text: string) => string][] = [
  ['node_id', (text) => `[${text}]`],
  ['node_type', (text) => `(${text})`],
  ['model', (text) => `model=${text}`],
  ['tool', (text) => `tool=${text}`],
  ['url', (text) => `→ ${text}`],
  ['status', (text) => `status=${text}`],
  ['error', (text) => `error: ${text}`],
  ['result', (text) => `result: ${text}`],
  ['output', (text) => `output: ${text}`],
];

/**
 * An event as one line: its message, where that is a text; else its parts, with a space between them; else all
 * of it as JSON.
 */
export function formatEvent(data: EventData): string {
  if (typeof data['message'] === 'string') return data['message'];
  const parts = PARTS.filter(([key]) => isGiven(data[key])).map(([key, show]) => show(textOf(data[key])));
  return parts.length > 0 ? parts.join(' ') : JSON.stringify(data);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
