import { hash } from 'node:crypto';
import { PublicFault } from '#libs/faults';
import { briefText, textStart } from './text.js';

/** Value that JSON can represent (RFC 8259). */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** JSON object; in A2A the ProtoJSON form of `google.protobuf.Struct`. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** True if a value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const LONGEST_PATH = 200;

/** Error for JSON that can be parsed but not written again: it has an infinite number, or is nested too deep. */
export class UnfitJson extends PublicFault {
  override readonly name = 'UnfitJson';

  /** @param path path of the invalid member, `''` for the whole */
  constructor(
    readonly reason: 'infinite' | 'deep',
    readonly path: string,
    readonly detail: string,
  ) {
    super(path === '' ? detail : `${path} ${detail}`);
  }

  override get kind(): 'invalid' {
    return 'invalid';
  }
}

/** Creates the error for JSON nested deeper than `deepest` levels: recursive code would overflow the stack. */
function tooDeep(deepest: number): UnfitJson {
  return new UnfitJson('deep', '', `must not be nested deeper than ${deepest} levels`);
}

/**
 * Finds the first fault, in text order, by which a parsed value cannot be serialized as JSON without change;
 * `undefined` if there is none. The path of a fault, such as `inputs.prices[3]`, is truncated if it is long. Uses no
 * recursion.
 *
 * - Nesting beyond `deepest`.
 * - A number that is not finite: `1e999` parses as Infinity and would be written as `null`.
 *
 * @param deepest maximum nesting of lists and objects
 */
export function unfitValue(value: unknown, deepest = Infinity): UnfitJson | undefined {
  const way: NestingLevel[] = [];
  let at = value;
  for (;;) {
    if (way.length > deepest) return tooDeep(deepest);
    if (typeof at === 'number' && !Number.isFinite(at))
      return new UnfitJson('infinite', levelPath(way), 'must be a finite number');
    if (typeof at === 'object' && at !== null) way.push(levelOf(at));
    let level = way.at(-1);
    while (level !== undefined && level.read === level.values.length) {
      way.pop();
      level = way.at(-1);
    }
    if (level === undefined) return undefined;
    at = level.values[level.read];
    level.read += 1;
  }
}

/** Maximum nesting of a caller's JSON; deeper values break recursive writers. */
const DEEPEST_BODY = 100;

/** Finds the first member of a request's body that cannot be serialized without change (see `unfitValue`). */
export function unfitMember(body: unknown): { path: string; detail: string } | undefined {
  const unfit = unfitValue(body, DEEPEST_BODY);
  if (unfit === undefined) return undefined;
  const { reason, path, detail } = unfit;
  return { path, detail: reason === 'deep' ? `the body is nested deeper than ${DEEPEST_BODY} levels` : detail };
}

/**
 * Object or list that contains the current value, at some level of nesting. Names of members are read only when a
 * problem is found.
 */
interface NestingLevel {
  readonly container: object;
  readonly values: readonly unknown[];
  read: number;
}

function levelOf(container: object): NestingLevel {
  return { container, values: Array.isArray(container) ? container : Object.values(container), read: 0 };
}

function levelPath(way: readonly NestingLevel[]): string {
  let path = '';
  for (const { container, read } of way) {
    if (path.length > LONGEST_PATH) break;
    if (Array.isArray(container)) path += `[${read - 1}]`;
    else path += `${path === '' ? '' : '.'}${Object.keys(container)[read - 1] ?? ''}`;
  }
  return briefText(path, LONGEST_PATH);
}

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
 * Rejects a JSON text as `parseJson` does (for nesting beyond `deepest`, and infinite numbers), without parsing it. A
 * text that is not JSON may pass. Reads each character at most once and uses no recursion.
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

/**
 * Returns the index of the closing quote of a string, searched from the index `from` on, which follows an escaped
 * quote. Reads character by character: searching for each quote of a text full of quotes takes fifty times as long.
 */
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
    return; // Whoever parses the text reports that it is not JSON.
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
 * True if the number between two indexes of a text is beyond IEEE 754. The number is parsed only if its digits and
 * exponent may make it that large, as most numbers are short.
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

/**
 * True if a parsed value certainly has more than `limit` characters as JSON. Counts strings, names, and one character
 * for each other value. Stops at the limit and uses no recursion.
 */
export function hasMoreCharacters(value: unknown, limit: number): boolean {
  const open: unknown[] = [value];
  let characters = 0;
  while (open.length > 0 && characters <= limit) {
    const it = open.pop();
    characters += typeof it === 'string' ? it.length + 2 : 1;
    if (typeof it !== 'object' || it === null) continue;
    if (Array.isArray(it)) for (const entry of it) open.push(entry);
    else
      for (const [name, member] of Object.entries(it)) {
        if (member === undefined) continue;
        characters += name.length;
        open.push(member);
      }
  }
  return characters > limit;
}

/**
 * Returns the canonical text of a JSON value (RFC 8785): members sorted by their names' UTF-16 code units, no spaces,
 * and strings and numbers as ECMAScript writes them.
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.keys(value)
    .toSorted()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name]!)}`);
  return `{${members.join(',')}}`;
}

/** Returns the SHA-256 digest of a JSON value, in base64url. The order of members does not affect the digest. */
export function jsonDigest(value: JsonValue): string {
  return hash('sha256', canonicalJson(value), 'base64url');
}

/** Difference between two JSON values. */
export interface JsonDifference {
  /** JSON Pointer (RFC 6901). Objects in a list are named by their ids if all have unique ids, else by index. */
  path: string;
  kind: 'added' | 'removed' | 'changed';
  /** Value before the change; absent if there was none or its JSON is longer than 500 characters. */
  before?: JsonValue;
  after?: JsonValue;
}

const MAX_VALUE = 500;
const MAX_SEGMENT = 100;

/** Members that may identify the items of a list. */
const IDS = ['id', 'uri', 'kid'];

/** Yields the differences between two JSON values, member by member. */
export function* jsonDifferences(
  from: JsonValue | undefined,
  to: JsonValue | undefined,
  path = '',
): Generator<JsonDifference> {
  if (from === undefined && to === undefined) return;
  const [before, after] = [membersOf(from), membersOf(to)];
  if (before && after) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      yield* jsonDifferences(before[name], after[name], `${path}/${pointerSegment(name)}`);
    }
    return;
  }
  if (from !== undefined && to !== undefined && canonicalJson(from) === canonicalJson(to)) return;
  const kind = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed';
  yield { path, kind, ...shownValue('before', from), ...shownValue('after', to) };
}

function shownValue(name: 'before' | 'after', value: JsonValue | undefined): Partial<JsonDifference> {
  return value === undefined || JSON.stringify(value).length > MAX_VALUE ? {} : { [name]: value };
}

/**
 * Returns the members of an object, or the items of a list of objects by id or index; `undefined` for any other value.
 */
function membersOf(value: JsonValue | undefined): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  if (!Array.isArray(value) || !value.every(isJsonObject)) return undefined;
  const id = IDS.find((it) => value.every((item) => typeof item[it] === 'string'));
  const names = value.map((item, place) => (id === undefined ? String(place) : (item[id] as string)));
  const unique = new Set(names).size === names.length;
  return Object.fromEntries(value.map((item, place) => [unique ? names[place] : String(place), item]));
}

function pointerSegment(name: string): string {
  const escaped = name.replaceAll('~', '~0').replaceAll('/', '~1');
  return textStart(escaped.replaceAll(/[^\x20-\x7e]/g, '?'), MAX_SEGMENT);
}
