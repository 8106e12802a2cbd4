/** Fields of a run event, by name. */
export type EventData = Readonly<Record<string, unknown>>;

/** Fields of an event that a line shows, in order, with their format. */
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

/** Formats an event as a line: its message if that is a text, else its known fields, else its JSON. */
export function formatEvent(data: EventData): string {
  if (typeof data['message'] === 'string') return data['message'];
  const parts = PARTS.filter(([key]) => isGiven(data[key])).map(([key, show]) => show(formatField(data[key])));
  return parts.length > 0 ? parts.join(' ') : JSON.stringify(data);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function formatField(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
