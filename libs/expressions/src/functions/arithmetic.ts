import { celFunc, type CelFunc, CelScalar, celUint, listType } from '@bufbuild/cel';
import { briefText } from '#libs/protocol';
import { currentEvaluation } from '../evaluation.js';
import { concatenateLists } from '../values.js';

const { BYTES, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
const LIST = listType(DYN);

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
 * numbers are doubles, and literals in expressions are mostly ints. The remainder of doubles is missing in the
 * standard, too.
 */
const MIXED = Object.entries(OPERATIONS).flatMap(([name, operation]) => [
  celFunc(name, [DOUBLE, INT], DOUBLE, (left, right) => operation(left, Number(right))),
  celFunc(name, [INT, DOUBLE], DOUBLE, (left, right) => operation(Number(left), right)),
]);

/** CEL arithmetic, concatenation (`+`), and conversions of strings to numbers, whose steps the budget counts. */
export const ARITHMETIC: readonly CelFunc[] = [
  ...MIXED,
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

function parseInteger(text: string, least: bigint, most: bigint): bigint {
  if (!INTEGER.test(text)) throw new Error(`"${briefText(text, 50)}" is no whole number`);
  const value = BigInt(text.replace('+', ''));
  if (value < least || value > most) throw new Error(`${text} is out of range`);
  return value;
}
