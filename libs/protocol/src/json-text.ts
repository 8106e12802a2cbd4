import type { JsonValue } from './json.js';
import { tooDeep, unfitValue } from './unfit-value.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
/** Digits before the point of the smallest decimal number beyond IEEE 754. */
const DIGITS_OF_LARGEST = 309;

/**
 * Parses JSON of others.
 * @param deepest levels of lists and objects that may lie in each other
 * @throws SyntaxError for a text that is no JSON
 * @throws UnfitJson for a number beyond IEEE 754 (`1e999` is read as Infinity, and would be written as `null`), and for
 * nesting that breaks what recurses
 */
export function parseJson(text: string, deepest = Infinity): JsonValue {
  refuseUnfitText(text, deepest);
  return JSON.parse(text) as JsonValue;
}

/** Parses JSON of others as `parseJson` does; `undefined` for what it refuses. */
export function tryParseJson(text: string, deepest = Infinity): JsonValue | undefined {
  try {
    return parseJson(text, deepest);
  } catch {
    return undefined;
  }
}

/**
 * Refuses a JSON text as `parseJson` does; what is no JSON may pass. Looks at each character at most once and uses no
 * recursion.
 * @throws UnfitJson
 */
export function refuseUnfitText(text: string, deepest = Infinity): void {
  let depth = 0;
  let areNumbersFine = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfJsonString(text, index);
    else if (isOpening(code)) {
      depth += 1;
      if (depth > deepest) throw tooDeep(deepest);
    } else if (isClosing(code)) depth -= 1;
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(text, index);
      if (!areNumbersFine && isInfinite(text, index, end)) {
        refuseInfinity(text);
        areNumbersFine = true;
      }
      index = end - 1;
    }
  }
}

/** True if lists and objects of a JSON text lie in each other deeper than that; reads outside strings, without recursion. */
export function nestsDeeper(text: string, deepest: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length && depth <= deepest; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfJsonString(text, index);
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code)) depth -= 1;
  }
  return depth > deepest;
}

/** Returns the place of the last quote of the string that begins at `start`, or the length of an open text. */
export function endOfJsonString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1);
  if (end < 0) return text.length;
  return isEscaped(text, end) ? endOfEscaped(text, end + 1) : end;
}

/** Goes from character to character: a search for each quote of a text of quotes takes fifty times as long. */
function endOfEscaped(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** @throws UnfitJson unless the text is no JSON */
function refuseInfinity(text: string): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return; // The reader of the text reports what is wrong with it.
  }
  const unfit = unfitValue(value);
  if (unfit !== undefined) throw unfit;
}

function isEscaped(text: string, index: number): boolean {
  let before = index;
  while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
  return (index - before) % 2 === 1;
}

function isOpening(code: number): boolean {
  return code === 0x5b || code === 0x7b;
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Reads digits, `+`, `-`, `.`, `e` and `E`. */
function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end += 1;
  return end;
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2e || code === MINUS || code === 0x2b || isExponent(code);
}

function isExponent(code: number): boolean {
  return (code | 0x20) === 0x65;
}

/** Asks for the value only where the digits and the exponent may make it too large: most numbers are short. */
function isInfinite(text: string, start: number, end: number): boolean {
  const exponent = exponentIn(text, start, end);
  if (end - start < DIGITS_OF_LARGEST - 99 && end - exponent <= 3) return false;
  const power = exponent === end ? 0 : Number(text.slice(exponent + 1, end));
  if (exponent - start + power < DIGITS_OF_LARGEST) return false;
  return Math.abs(Number(text.slice(start, end))) === Infinity;
}

function exponentIn(text: string, start: number, end: number): number {
  let index = start;
  while (index < end && !isExponent(text.charCodeAt(index))) index += 1;
  return index;
}
