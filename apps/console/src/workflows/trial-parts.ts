import type { A2aPart } from '../api/task.js';

/** Returns Parts as a text that a person can change: their text if they are one text, else a JSON list. */
export function textOfParts(parts: readonly A2aPart[]): string {
  if (parts.length === 0) return '';
  const [first] = parts;
  return parts.length === 1 && first?.text !== undefined ? first.text : JSON.stringify(parts, undefined, 2);
}

/** Parses a text to Parts: the entries if it is a JSON list of Parts, else the text as one Part. */
export function partsOfText(text: string): A2aPart[] {
  try {
    const read: unknown = JSON.parse(text);
    if (Array.isArray(read) && read.length > 0 && read.every(isPart)) return read;
  } catch {
    // A text that is not JSON is sent as it is.
  }
  return [{ text }];
}

function isPart(value: unknown): value is A2aPart {
  if (typeof value !== 'object' || value === null) return false;
  return ['text', 'data', 'url', 'raw'].some((member) => member in value);
}
