import { isJsonObject, type JsonValue } from './json.js';
import { endOfJsonValue } from './json-value-end.js';

/** Maximum number of values examined in one text, and of characters read for each of its own. */
const MOST_VALUES = 1_000;
const READS_A_CHARACTER = 4;
const FENCE = '```';
const THOUGHTS = ['<think>', '</think>'] as const;

/** Options for reading the JSON in a text. */
export interface JsonReading {
  /** Parses a text that may be JSON; `undefined` if it is not. An exception ends the search. */
  read: (json: string) => JsonValue | undefined;
  /** True for a value of the requested shape. Absent: an object is preferred to a list. */
  fits?: (value: JsonValue) => boolean;
}

/**
 * Extracts JSON from a model's text, which may surround it with words, thoughts, citations and fences.
 *
 * - Searches, in this order, the whole text, fenced blocks labeled `json`, other fenced blocks, and each balanced
 *   object or list from left to right.
 * - Skips leading thoughts (`<think>…</think>`).
 * - Takes time linear in the text's length.
 *
 * @returns the first value that fits; if none does, or there is no `fits`, the first object, else the first value, of
 * the first of these places with any; `undefined` without JSON
 */
export function jsonInText(text: string, { read, fits }: JsonReading): JsonValue | undefined {
  let found: JsonValue | undefined;
  for (const place of placesIn(withoutThoughts(text.trim()))) {
    const values = new PlaceValues();
    for (const json of place) {
      const value = read(json);
      if (value === undefined) continue;
      if (fits?.(value)) return value;
      values.add(value);
    }
    found ??= values.preferred;
    if (found !== undefined && fits === undefined) return found;
  }
  return found;
}

/** JSON values found in one place of a text. */
class PlaceValues {
  private first: JsonValue | undefined;
  private object: JsonValue | undefined;

  add(value: JsonValue): void {
    this.first ??= value;
    if (isJsonObject(value)) this.object ??= value;
  }

  get preferred(): JsonValue | undefined {
    return this.object ?? this.first;
  }
}

function withoutThoughts(text: string): string {
  const [begin, end] = THOUGHTS;
  const over = text.startsWith(begin) ? text.indexOf(end) : -1;
  return over < 0 ? text : text.slice(over + end.length).trim();
}

/** Yields the texts that may be JSON, for each place to search. */
function* placesIn(text: string): Generator<Iterable<string>> {
  yield [text];
  const blocks = fencedBlocks(text);
  yield blocks.filter(({ isJson }) => isJson).flatMap(({ content }) => [content, ...balancedValues(content)]);
  yield blocks.filter(({ isJson }) => !isJson).flatMap(({ content }) => [content, ...balancedValues(content)]);
  yield balancedValues(text);
}

/** Returns the blocks between fences at the start of a line; the last block may be unclosed. */
function fencedBlocks(text: string): { isJson: boolean; content: string }[] {
  const blocks: { isJson: boolean; lines: string[] }[] = [];
  let isOpen = false;
  if (!text.includes(FENCE)) return [];
  for (const line of text.split('\n')) {
    const isFence = line.trimStart().startsWith(FENCE);
    if (isFence && !isOpen) blocks.push({ isJson: /^\s*`+\s*json/i.test(line), lines: [] });
    else if (!isFence && isOpen) blocks.at(-1)?.lines.push(line);
    if (isFence) isOpen = !isOpen;
  }
  return blocks.map(({ isJson, lines }) => ({ isJson, content: lines.join('\n').trim() }));
}

/** Yields the top-level objects and lists of a text, from left to right. */
function* balancedValues(text: string): Generator<string> {
  let [values, left] = [0, text.length * READS_A_CHARACTER];
  for (let start = nextOpening(text, 0); start >= 0 && values < MOST_VALUES && left > 0;) {
    const { end, isWhole } = endOfJsonValue(text, start);
    left -= end - start;
    if (isWhole) {
      values += 1;
      yield text.slice(start, end);
    }
    start = nextOpening(text, isWhole ? end : start + 1);
  }
}

function nextOpening(text: string, from: number): number {
  for (let index = from; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x5b || code === 0x7b) return index;
  }
  return -1;
}
