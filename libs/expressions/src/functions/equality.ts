import {
  celFunc,
  type CelFunc,
  CelScalar,
  type CelList,
  type CelMap,
  type CelValue,
  isCelList,
  isCelMap,
  isCelType,
  isCelUint,
  listType,
  mapType,
} from '@bufbuild/cel';
import { currentEvaluation } from '../evaluation.js';
import { asDuration, asTimestamp } from '../values.js';

const { BOOL, DOUBLE, DYN, INT, STRING, UINT } = CelScalar;
const LIST = listType(DYN);
const MAP = mapType(DYN, DYN);
const DEEPEST = 500;

/**
 * CEL functions `==`, `!=`, `in` and `@has`, whose steps the budget counts: comparing two values that contain the
 * same parts many times may take very long.
 */
export const EQUALITY: readonly CelFunc[] = [
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
