import type { JsonValue } from './json.js';
import { tooDeep, unfitValue } from './unfit-value.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
/** Digits of the integer part of the smallest decimal number beyond IEEE 754. */
const DIGITS_OF_LARGEST = 309;

/**
 * Parses untrusted JSON.
 * @param deepest maximum nesting of lists and objects
 * @throws SyntaxError for a text that is not JSON
 * @throws UnfitJson for a number beyond IEEE 754 (`1e999` parses as Infinity and would be written as `null`), and for
 * nesting deeper than `deepest`
 */
export function parseJson(text: string, deepest = Infinity): JsonValue {
  refuseUnfitText(text, deepest);
  return JSON.parse(text) as JsonValue;
}

/** Parses untrusted JSON as `parseJson` does; `undefined` for what it rejects. */
export function tryParseJson(text: string, deepest = Infinity): JsonValue | undefined {
  try {
    return parseJson(text, deepest);
  } catch {
    return undefined;
  }
}

/**
 * Rejects a JSON text as `parseJson` does; text that is not JSON may pass. Reads each character at most once and uses
 * no recursion.
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

/** True if a JSON text is nested deeper than `deepest`. Ignores strings and uses no recursion. */
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

/**
 * Returns the index of the closing quote of the string that begins at `start`, or the text's length if it is unclosed.
 */
export function endOfJsonString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1);
  if (end < 0) return text.length;
  return isEscaped(text, end) ? endOfEscaped(text, end + 1) : end;
}

/** Reads character by character: searching for each quote of a text full of quotes takes fifty times as long. */
function endOfEscaped(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** Rejects an infinite number. @throws UnfitJson; never for a text that is not JSON */
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

/** Returns the index after a run of digits, `+`, `-`, `.`, `e` and `E`. */
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

/**
 * True if a number is beyond IEEE 754. Parses it only if its digits and exponent may make it that large: most numbers
 * are short.
 */
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
