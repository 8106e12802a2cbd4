import { endOfJsonString } from './json-text.js';

/** Kind of token expected next. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end';

const [QUOTE, COLON, COMMA] = [0x22, 0x3a, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];
const LITERALS = ['true', 'false', 'null'];

/** Index where a value ends, or where it turned out to be invalid. */
export interface ValueEnd {
  end: number;
  isWhole: boolean;
}

/**
 * Returns the end of the object or list that begins at `start`. Reads each character once, without recursion, until the
 * value ends or is invalid; the contents of strings and numbers are not checked.
 */
export function endOfJsonValue(text: string, start: number): ValueEnd {
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

  /** Reads the next token. @returns false if it is not valid JSON */
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
