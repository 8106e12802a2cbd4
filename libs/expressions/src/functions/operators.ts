import {
  celFunc,
  type CelFunc,
  CelScalar,
  type CelList,
  type CelMap,
  celUint,
  type CelValue,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint,
  listType,
  mapType,
} from '@bufbuild/cel';
import { briefText } from '#libs/protocol';
import { currentEvaluation } from '../evaluation.js';
import { asDuration, asTimestamp, concatenateLists } from '../values.js';

const { BOOL, BYTES, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);
const DEEPEST = 500;

const LARGEST_INT = 2n ** 63n - 1n;
const LARGEST_UINT = 2n ** 64n - 1n;
const INTEGER = /^[+-]?\d{1,20}$/;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const OPERATIONS: Record<string, (left: number, right: number) => number> = {
  '_+_': (left, right) => left + right,
  '_-_': (left, right) => left - right,
  '_*_': (left, right) => left * right,
  '_/_': (left, right) => left / right,
  '_%_': (left, right) => left % right,
};

/**
 * Arithmetic operators for a double and an int, which the CEL standard does not define. They are needed because JSON
 * numbers are doubles, and literals in expressions are mostly ints.
 */
const MIXED = Object.entries(OPERATIONS).flatMap(([name, operation]) => [
  celFunc(name, [DOUBLE, INT], DOUBLE, (left, right) => operation(left, Number(right))),
  celFunc(name, [INT, DOUBLE], DOUBLE, (left, right) => operation(Number(left), right)),
]);

/** CEL arithmetic, concatenation (`+`), and conversions of strings to numbers, whose steps the budget counts. */
const ARITHMETIC: readonly CelFunc[] = [
  ...MIXED,
  // The CEL standard defines no remainder of two doubles.
  celFunc('_%_', [DOUBLE, DOUBLE], DOUBLE, (left, right) => left % right),
  celFunc('_+_', [STRING, STRING], STRING, (left, right) => {
    currentEvaluation().budget.chargeText(left.length + right.length);
    return left + right;
  }),
  celFunc('_+_', [BYTES, BYTES], BYTES, (left, right) => {
    currentEvaluation().budget.chargeText(left.length + right.length);
    const sum = new Uint8Array(left.length + right.length);
    sum.set(left);
    sum.set(right, left.length);
    return sum;
  }),
  celFunc('_+_', [LIST, LIST], LIST, concatenateLists),
  // The conversions of the CEL evaluator accept '' as 0, '0x1f' as a number and 'abc' as NaN.
  celFunc('int', [STRING], INT, (text) => parseInteger(text, -LARGEST_INT - 1n, LARGEST_INT)),
  celFunc('uint', [STRING], UINT, (text) => celUint(parseInteger(text, 0n, LARGEST_UINT))),
  celFunc('double', [STRING], DOUBLE, (text) => {
    if (!DECIMAL.test(text)) throw new Error(`"${briefText(text, 50)}" is no number`);
    return Number(text);
  }),
];

/**
 * CEL functions `==`, `!=`, `in` and `@has`, whose steps the budget counts: comparing two values that contain the
 * same parts many times may take very long.
 */
const EQUALITY: readonly CelFunc[] = [
  celFunc('_==_', [DYN, DYN], BOOL, (left, right) => areEqual(left, right)),
  celFunc('_!=_', [DYN, DYN], BOOL, (left, right) => !areEqual(left, right)),
  celFunc('@in', [DYN, LIST], BOOL, (value, list) => {
    for (const item of list) if (areEqual(item, value)) return true;
    return false;
  }),
  ...[STRING, INT, UINT, DOUBLE, BOOL].map((key) =>
    celFunc('@in', [key, MAP], BOOL, (value, map) => map.get(value as string) !== undefined),
  ),
  celFunc('@has', [DYN, STRING], BOOL, (map, name) => isCelMap(map) && map.get(name) !== undefined),
];

/** Operators of CEL whose steps the budget counts. */
export const OPERATORS: readonly CelFunc[] = [...ARITHMETIC, ...EQUALITY];

function parseInteger(text: string, least: bigint, most: bigint): bigint {
  if (!INTEGER.test(text)) throw new Error(`"${briefText(text, 50)}" is no whole number`);
  const value = BigInt(text.replace('+', ''));
  if (value < least || value > most) throw new Error(`${text} is out of range`);
  return value;
}

function areEqual(left: CelValue, right: CelValue, depth = 0): boolean {
  const { budget } = currentEvaluation();
  budget.chargeSteps(1);
  if (depth > DEEPEST) throw new Error(`values nested deeper than ${DEEPEST} are not compared`);
  if (typeof left === 'string' && typeof right === 'string') {
    if (left.length !== right.length) return false;
    budget.chargeRead(left.length);
    return left === right;
  }
  const one = isCelUint(left) ? left.value : left;
  const other = isCelUint(right) ? right.value : right;
  if (isNumber(one) && isNumber(other)) return one == other; // eslint-disable-line eqeqeq -- across the two types
  if (one === other) return true;
  if (isCelList(one)) return isCelList(other) && equalLists(one, other, depth + 1);
  if (isCelMap(one)) return isCelMap(other) && equalMaps(one, other, depth + 1);
  if (isCelType(one)) return isCelType(other) && one.kind === other.kind && one.name === other.name;
  if (one instanceof Uint8Array) return other instanceof Uint8Array && equalBytes(one, other);
  return equalTimes(one, other);
}

function isNumber(value: CelValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function equalLists(left: CelList, right: CelList, depth: number): boolean {
  if (left.size !== right.size) return false;
  for (let index = 0; index < left.size; index++) {
    if (!areEqual(left.get(index) ?? null, right.get(index) ?? null, depth)) return false;
  }
  return true;
}

function equalMaps(left: CelMap, right: CelMap, depth: number): boolean {
  if (left.size !== right.size) return false;
  for (const [key, value] of left) {
    const other = right.get(key);
    if (other === undefined || !areEqual(value, other, depth)) return false;
  }
  return true;
}

function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  currentEvaluation().budget.chargeRead(left.length);
  return left.every((byte, index) => byte === right[index]);
}

function equalTimes(left: CelValue, right: CelValue): boolean {
  return [asTimestamp, asDuration].some((as) => {
    const [one, other] = [as(left), as(right)];
    return one !== undefined && one.seconds === other?.seconds && one.nanos === other.nanos;
  });
}
