import { celEnv, celError, type CelFunc, type CelValue, isCelError, isCelList, isCelMap } from '@bufbuild/cel';
import { celFunc, CelScalar } from '@bufbuild/cel';
import { evaluation } from '../evaluation.js';
import { ARITHMETIC } from './arithmetic.js';
import { EQUALITY } from './equality.js';
import { JSON_FUNCTIONS } from './json.js';
import { PATTERNS } from './patterns.js';
import { TEXT } from './text.js';
import { TIME } from './time.js';

const { BOOL, DYN, INT } = CelScalar;

/** Put around whatever a macro goes through, before it does. */
const EACH = celFunc('@each', [DYN, INT, BOOL], DYN, (range, weight, innermost) => {
  if (isCelList(range) || isCelMap(range)) evaluation().budget.visit(range.size, Number(weight), innermost);
  return range;
});

const OWN: readonly CelFunc[] = [...ARITHMETIC, ...EQUALITY, ...TEXT, ...PATTERNS, ...TIME, ...JSON_FUNCTIONS, EACH];

/** The functions of expressions: the standard's, ours instead where theirs could not be bounded or are wrong, and our own. */
export const ENVIRONMENT = celEnv({
  funcs: [...[...celEnv().funcs].map((func) => watched(func, true)), ...OWN.map((func) => watched(func, false))],
});

/** A function whose errors all say where, and, where it does not count itself, whose texts are counted. */
function watched(func: CelFunc, counted: boolean): CelFunc {
  const call: CelFunc['call'] = (id, target, args) => {
    const result = func.call(id, target, args);
    if (result === undefined) return undefined;
    if (isCelError(result)) return result.exprId === undefined ? celError(new Error(result.message), id) : result;
    if (!counted) return result;
    try {
      for (const value of [target, ...args]) evaluation().budget.read(lengthOf(value));
    } catch (error) {
      return celError(error, id);
    }
    return result;
  };
  return Object.assign(Object.create(func) as CelFunc, { call });
}

function lengthOf(value: CelValue | undefined): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}
