import { endOfJsonString, isJsonObject, type JsonValue } from './json.js';

/** Kind of token expected next. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end';

const [QUOTE, COLON, COMMA] = [0x22, 0x3a, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];
const LITERALS = ['true', 'false', 'null'];

/** Result of `endOfJsonValue`: the index where a value ends, or where it turned out to be invalid. */
interface ValueEnd {
  end: number;
  isWhole: boolean;
}

/**
 * Returns the end of the object or list that begins at `start`. Reads each character once, without recursion, until the
 * value ends or is invalid; the contents of strings and numbers are not checked.
 */
function endOfJsonValue(text: string, start: number): ValueEnd {
  const scan = new ValueScan(text, start);
  while (scan.readToken()) {
    if (scan.isOver) return { end: scan.at, isWhole: true };
  }
  return { end: Math.max(scan.at, start + 1), isWhole: false };
}

class ValueScan {
  private expected: Expected = 'value';
  /** Expected closing brackets, innermost last. */
  private readonly due: number[] = [];

  constructor(
    private readonly text: string,
    public at: number,
  ) {}

  get isOver(): boolean {
    return this.due.length === 0;
  }

  /** Reads the next token. @returns false if the token is not valid JSON */
  readToken(): boolean {
    while (isSpace(this.text.charCodeAt(this.at))) this.at += 1;
    const next = this.text.charCodeAt(this.at);
    switch (this.expected) {
      case 'value':
        return this.readValue(next);
      case 'value or end':
        return this.closeContainer(next) || this.readValue(next);
      case 'name':
        return next === QUOTE && this.skipString('colon');
      case 'name or end':
        return this.closeContainer(next) || (next === QUOTE && this.skipString('colon'));
      case 'colon':
        return next === COLON && this.skipCharacters(1, 'value');
      case 'comma or end':
        return this.closeContainer(next) || (next === COMMA && this.skipCharacters(1, this.afterComma()));
    }
  }

  private readValue(next: number): boolean {
    if (next === OBJECT) return this.openContainer(OBJECT_END, 'name or end');
    if (next === LIST) return this.openContainer(LIST_END, 'value or end');
    if (next === QUOTE) return this.skipString('comma or end');
    if (isOfNumber(next)) return this.skipNumber();
    const literal = LITERALS.find((it) => this.text.startsWith(it, this.at));
    return literal !== undefined && this.skipCharacters(literal.length, 'comma or end');
  }

  private afterComma(): Expected {
    return this.due.at(-1) === OBJECT_END ? 'name' : 'value';
  }

  private openContainer(closing: number, expected: Expected): boolean {
    this.due.push(closing);
    return this.skipCharacters(1, expected);
  }

  private closeContainer(next: number): boolean {
    if (next !== this.due.at(-1)) return false;
    this.due.pop();
    return this.skipCharacters(1, 'comma or end');
  }

  private skipString(expected: Expected): boolean {
    this.at = endOfJsonString(this.text, this.at) + 1;
    this.expected = expected;
    return this.at <= this.text.length;
  }

  private skipNumber(): boolean {
    while (isOfNumber(this.text.charCodeAt(this.at))) this.at += 1;
    this.expected = 'comma or end';
    return true;
  }

  private skipCharacters(length: number, expected: Expected): boolean {
    this.at += length;
    this.expected = expected;
    return true;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function isOfNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e || (code | 0x20) === 0x65;
}

/** Maximum number of values that are examined in one text. */
const MOST_VALUES = 1_000;
/**
 * Maximum number of characters that a search for values reads, for each character of the text. If the brackets of a
 * value do not match, the search starts again right after its first bracket, and so may read the same characters
 * several times.
 */
const READS_A_CHARACTER = 4;
const FENCE = '```';
const THOUGHTS = ['<think>', '</think>'] as const;

/** Options for reading the JSON in a text. */
export interface JsonReading {
  /** Parses a text that may be JSON; returns `undefined` if it is not. An exception ends the search. */
  read: (json: string) => JsonValue | undefined;
  /** True for a value of the requested shape. Absent: an object is preferred to a list. */
  fits?: (value: JsonValue) => boolean;
}

/**
 * Extracts JSON from a model's text, which may surround the JSON with words, thoughts, citations and fences.
 *
 * - Searches these places in this order: the whole text, fenced blocks labeled `json`, other fenced blocks, and each
 *   balanced object or list from left to right.
 * - Skips leading thoughts (`<think>…</think>`).
 * - Takes time linear in the text's length.
 *
 * @returns the first value that fits. If no value fits, or there is no `fits`, the result comes from the first place
 * with any value: its first object, else its first value. `undefined` without JSON
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
