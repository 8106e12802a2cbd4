import { type CelFunc, celFunc, type CelList, celList, celMethod, CelScalar, listType } from '@bufbuild/cel';
import { currentEvaluation } from '../evaluation.js';

/**
 * Maximum length of a text that JavaScript's `indexOf` searches for, since its worst case is the product of both
 * lengths. Longer texts are searched for by `searchText`, as are texts that are searched backward.
 */
const LONGEST_NEEDLE = 64;

/**
 * Returns the first index of `needle` at or after `from`, in UTF-16 code units, or -1. The time is linear in both
 * lengths.
 */
function firstIndex(text: string, needle: string, from = 0): number {
  if (needle.length <= LONGEST_NEEDLE) return text.indexOf(needle, from);
  return searchText(text, needle, from, text.length, false);
}

/** Returns the last index of `needle` that is at most `upTo`, in UTF-16 code units, or -1. */
function lastIndex(text: string, needle: string, upTo = text.length): number {
  if (needle === '') return Math.min(upTo, text.length);
  return searchText(text, needle, 0, upTo, true);
}

/**
 * Returns the first index of `needle` between `from` and `upTo`, or the last one if `last` is true; -1 if there is
 * none. Takes linear time (Knuth, Morris, Pratt).
 */
function searchText(text: string, needle: string, from: number, upTo: number, last: boolean): number {
  const borders = bordersOf(needle);
  let matched = 0;
  let found = -1;
  for (let index = from; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === unit) matched += 1;
    if (matched < needle.length) continue;
    const begin = index - needle.length + 1;
    if (begin > upTo) return found;
    found = begin;
    if (!last) return found;
    matched = borders[matched - 1] ?? 0;
  }
  return found;
}

/**
 * Returns, for each prefix of a text, the length of its longest border: a shorter prefix that is also a suffix of it.
 */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let index = 1; index < text.length; index++) {
    while (length > 0 && text.charCodeAt(index) !== text.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(index) === text.charCodeAt(length)) length += 1;
    borders[index] = length;
  }
  return borders;
}

const { BOOL, DYN, INT, STRING } = CelScalar;
const LIST = listType(DYN);
/** Multiplier of `chargeRead` for the steps of functions that visit each character. */
const SLOW = 4;
/**
 * Steps for each part of a split. Cutting takes less time than that; the number also limits the memory of the parts.
 */
const STEPS_OF_A_PART = 4;

/**
 * String functions of the CEL standard and of its extension `strings`. They count and order by code points, in linear
 * time. The CEL evaluator's own functions count code units, and some take quadratic time.
 */
export const TEXT: readonly CelFunc[] = [
  celFunc('_<_', [STRING, STRING], BOOL, (left, right) => compareCodePoints(left, right) < 0),
  celFunc('_<=_', [STRING, STRING], BOOL, (left, right) => compareCodePoints(left, right) <= 0),
  celFunc('_>_', [STRING, STRING], BOOL, (left, right) => compareCodePoints(left, right) > 0),
  celFunc('_>=_', [STRING, STRING], BOOL, (left, right) => compareCodePoints(left, right) >= 0),
  celFunc('size', [STRING], INT, (text) => BigInt(pointsIn(text))),
  celMethod('size', STRING, [], INT, function () {
    return BigInt(pointsIn(this));
  }),
  celMethod('contains', STRING, [STRING], BOOL, function (part) {
    chargeTexts(this, part);
    return firstIndex(this, part) >= 0;
  }),
  celMethod('indexOf', STRING, [STRING], INT, function (part) {
    return indexIn(this, firstIndex(this, part), part);
  }),
  celMethod('indexOf', STRING, [STRING, INT], INT, function (part, from) {
    return indexIn(this, firstIndex(this, part, unitAt(this, from)), part);
  }),
  celMethod('lastIndexOf', STRING, [STRING], INT, function (part) {
    return indexIn(this, lastIndex(this, part), part);
  }),
  celMethod('lastIndexOf', STRING, [STRING, INT], INT, function (part, from) {
    return indexIn(this, lastIndex(this, part, unitAt(this, from)), part);
  }),
  celMethod('charAt', STRING, [INT], STRING, function (index) {
    const point = this.codePointAt(unitAt(this, index));
    return point === undefined ? '' : String.fromCodePoint(point);
  }),
  celMethod('substring', STRING, [INT], STRING, function (from) {
    return this.slice(unitAt(this, from));
  }),
  celMethod('substring', STRING, [INT, INT], STRING, function (from, to) {
    if (from > to) throw new Error('a part of a text must not end before it begins');
    return this.slice(unitAt(this, from), unitAt(this, to));
  }),
  celMethod('lowerAscii', STRING, [], STRING, function () {
    chargeTexts(this);
    return this.replace(/[A-Z]+/g, (part) => part.toLowerCase());
  }),
  celMethod('upperAscii', STRING, [], STRING, function () {
    chargeTexts(this);
    return this.replace(/[a-z]+/g, (part) => part.toUpperCase());
  }),
  celMethod('trim', STRING, [], STRING, function () {
    chargeTexts(this);
    return this.trim();
  }),
  celMethod('split', STRING, [STRING], LIST, function (separator) {
    return celList(splitText(this, separator, -1));
  }),
  celMethod('split', STRING, [STRING, INT], LIST, function (separator, most) {
    return celList(splitText(this, separator, Number(most)));
  }),
  celMethod('replace', STRING, [STRING, STRING], STRING, function (old, fresh) {
    return replaceText(this, old, fresh, -1);
  }),
  celMethod('replace', STRING, [STRING, STRING, INT], STRING, function (old, fresh, most) {
    return replaceText(this, old, fresh, Number(most));
  }),
  celMethod('join', LIST, [], STRING, function () {
    return joinTexts(requireTexts(this), '');
  }),
  celMethod('join', LIST, [STRING], STRING, function (separator) {
    return joinTexts(requireTexts(this), separator);
  }),
];

function chargeTexts(...texts: string[]): void {
  for (const text of texts) currentEvaluation().budget.chargeRead(text.length * SLOW);
}

/** Compares two texts by code points. The result is negative, 0 or positive. */
function compareCodePoints(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  currentEvaluation().budget.chargeRead(shared * SLOW);
  for (let unit = 0; unit < shared; unit++) {
    const difference = rankUnit(left.charCodeAt(unit)) - rankUnit(right.charCodeAt(unit));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/**
 * Returns the sort key of a code unit, for ordering texts by code points: surrogates sort after all other code units.
 */
function rankUnit(unit: number): number {
  return isSurrogate(unit) ? unit + 0x1_00_00 : unit;
}

function pointsIn(text: string, end = text.length): number {
  chargeTexts(text);
  let points = 0;
  for (let unit = 0; unit < end; unit++) points += isTail(text, unit) ? 0 : 1;
  return points;
}

/** Converts an index in code points to an index in UTF-16 code units. @throws Error beyond the end of the text */
function unitAt(text: string, index: bigint): number {
  chargeTexts(text);
  let left = Number(index);
  let unit = 0;
  while (left > 0 && unit < text.length) {
    unit += 1;
    if (!isTail(text, unit)) left -= 1;
  }
  if (left !== 0) throw new Error(`the text has no place ${index}`);
  return unit;
}

function isSurrogate(unit: number): boolean {
  return (unit & 0xf8_00) === 0xd8_00;
}

/** True if the code unit at an index is the second half of a surrogate pair. */
function isTail(text: string, unit: number): boolean {
  return (text.charCodeAt(unit) & 0xfc00) === 0xdc00 && (text.charCodeAt(unit - 1) & 0xfc00) === 0xd800;
}

function indexIn(text: string, unit: number, part: string): bigint {
  chargeTexts(text, part);
  return BigInt(unit < 0 ? -1 : pointsIn(text, unit));
}

/**
 * Splits a text.
 * @param most maximum number of parts, the last of which has the remainder; a negative number: unlimited
 */
function splitText(text: string, separator: string, most: number): string[] {
  chargeTexts(text, separator);
  if (most === 0) return [];
  const found: string[] = [];
  const width = separator.length;
  let from = 0;
  while (most < 0 || found.length < most - 1) {
    const unit = width === 0 ? nextPoint(text, from) : firstIndex(text, separator, from);
    if (unit < 0) break;
    currentEvaluation().budget.chargeSteps(STEPS_OF_A_PART);
    found.push(text.slice(from, unit));
    from = unit + width;
  }
  if (width > 0 || from < text.length) found.push(text.slice(from));
  return found;
}

/** Returns the index of the code point after the one at `unit`, in code units, or -1 at the end of the text. */
function nextPoint(text: string, unit: number): number {
  if (unit >= text.length) return -1;
  return unit + (isTail(text, unit + 1) ? 2 : 1);
}

function replaceText(text: string, old: string, fresh: string, most: number): string {
  if (old === '') throw new Error('an empty text cannot be replaced');
  return joinTexts(splitText(text, old, most < 0 ? -1 : most + 1), fresh);
}

function requireTexts(list: CelList): string[] {
  currentEvaluation().budget.chargeSteps(list.size);
  return Array.from(list, (item) => {
    if (typeof item !== 'string') throw new Error('join takes a list of texts alone');
    return item;
  });
}

function joinTexts(texts: readonly string[], separator: string): string {
  const length = texts.reduce((sum, text) => sum + text.length, separator.length * Math.max(0, texts.length - 1));
  currentEvaluation().budget.chargeText(length);
  return texts.join(separator);
}
