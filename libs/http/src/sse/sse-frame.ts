import { type PassingText, resolveText } from './passing-text.js';

/** Event of a stream (WHATWG HTML, section 9.2). */
export interface SseFrame {
  id?: string | number;
  event?: string;
  /** Data; each line becomes a `data:` line. */
  data: string | PassingText;
}

/** Formats a frame for the wire. Line breaks in `id` and `event`, which could forge another field, are dropped. */
export function formatSseFrame({ id, event, data: given }: SseFrame): string {
  const data = resolveText(given);
  let text = '';
  if (id !== undefined) text += `id: ${oneLine(String(id))}\n`;
  if (event !== undefined) text += `event: ${oneLine(event)}\n`;
  if (!/[\r\n]/.test(data)) return `${text}data: ${data}\n\n`;
  for (const line of data.split(/\r\n|\r|\n/)) text += `data: ${line}\n`;
  return `${text}\n`;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, '');
}
