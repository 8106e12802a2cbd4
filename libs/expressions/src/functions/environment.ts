import {
  celEnv,
  celError,
  type CelFunc,
  type CelType,
  type CelValue,
  isCelError,
  isCelList,
  isCelMap,
} from '@bufbuild/cel';
import { celFunc, CelScalar } from '@bufbuild/cel';
import { briefText, type JsonValue, parseJson } from '#libs/protocol';
import { currentEvaluation } from '../evaluation.js';
import { toCel } from '../values.js';
import { OPERATORS } from './operators.js';
import { PATTERNS } from './patterns.js';
import { TEXT } from './text.js';
import { TIME } from './time.js';

const { BOOL, DYN, INT, STRING } = CelScalar;
const STEP = /[^.[\]]+/g;
const PATH = /^(?:[^.[\]]+|\[\d+\])(?:\.[^.[\]]+|\[\d+\])*$/;

/**
 * CEL function `@each(range, weight, innermost)`, which SyntaxCheck wraps around the range of each macro. It charges
 * `weight` steps for each element of the range, and returns the range. `innermost` is true if the body of the macro
 * contains no other macro: only then the elements count toward the limit of visits.
 */
const EACH = celFunc('@each', [DYN, INT, BOOL], DYN, (range, weight, innermost) => {
  if (isCelList(range) || isCelMap(range))
    currentEvaluation().budget.chargeVisit(range.size, Number(weight), innermost);
  return range;
});

/** Functions `get(value, path, default)` and `parseJson(text)`, which the CEL standard lacks. */
const JSON_FUNCTIONS: readonly CelFunc[] = [
  celFunc('get', [DYN, STRING, DYN], DYN, (value, path, otherwise) => {
    currentEvaluation().budget.chargeRead(path.length * 8);
    if (!PATH.test(path))
      throw new Error(`"${briefText(path, 50)}" is no path: names with dots between them, [0] in lists`);
    return findAtPath(value, path.match(STEP) ?? []) ?? otherwise;
  }),
  celFunc('parseJson', [STRING], DYN, (text) => {
    currentEvaluation().budget.chargeRead(text.length * 4);
    return toCel(parseJsonText(text));
  }),
];

const OWN: readonly CelFunc[] = [...OPERATORS, ...TEXT, ...PATTERNS, ...TIME, ...JSON_FUNCTIONS, EACH];

/** Steps that each call of a function costs, by the name of the function; 0 for all others. */
const STEPS: Record<string, number> = {
  string: 10,
  int: 10,
  uint: 10,
  double: 10,
  duration: 50,
  timestamp: 50,
  bytes: 50,
};
const KINDS: Record<string, string> = {
  double: 'number',
  int: 'bigint',
  string: 'string',
  bool: 'boolean',
  uint: 'object',
};
const STEPS_OF_AN_ERROR = 25;
/** Multiplier of `chargeRead` for the steps of `bytes` and `string`, which convert a string to bytes or back. */
const CONVERSION = 8;

/**
 * Functions of expressions: the functions of the CEL standard and of this library. Functions of the evaluator whose
 * cost is unbounded or whose result is wrong are replaced.
 */
export const ENVIRONMENT = celEnv({
  funcs: [
    ...[...celEnv().funcs].map((func) => meterFunction(func, true)),
    ...OWN.map((func) => meterFunction(func, false)),
  ],
});

/**
 * Wraps a CEL function so that the budget counts each call, and each error has the position of the call.
 * @param counted true if the wrapper also counts the strings and bytes that the function reads; false if the function
 *   itself does
 */
function meterFunction(func: CelFunc, counted: boolean): CelFunc {
  const steps = STEPS[func.name] ?? 0;
  const weight = func.name === 'bytes' || func.name === 'string' ? CONVERSION : 1;
  const chargeLength = (value: CelValue | undefined) => {
    const length = contentLengthOf(value);
    if (length > 0) currentEvaluation().budget.chargeRead(length * weight);
  };
  const targetKind = javascriptKind(func.target);
  const kinds = func.arguments.map(javascriptKind);
  const callMetered: CelFunc['call'] = (id, target, args) => {
    if (targetKind !== undefined && typeof target !== targetKind) return undefined;
    for (let index = 0; index < kinds.length; index++)
      if (kinds[index] !== undefined && typeof args[index] !== kinds[index]) return undefined;
    const { exceeded } = currentEvaluation().budget;
    if (exceeded) return celError(exceeded, id);
    const result = func.call(id, target, args);
    if (result === undefined) return undefined;
    try {
      if (steps > 0) currentEvaluation().budget.chargeSteps(steps);
      if (isCelError(result)) currentEvaluation().budget.chargeSteps(STEPS_OF_AN_ERROR);
      else if (counted)
        for (let index = -1; index < args.length; index++) chargeLength(index < 0 ? target : args[index]);
    } catch (error) {
      return celError(error, id);
    }
    return isCelError(result) && result.exprId === undefined ? celError(new Error(result.message), id) : result;
  };
  return Object.assign(Object.create(func) as CelFunc, { call: callMetered });
}

/**
 * Returns the `typeof` that the JavaScript values of a CEL type have; `undefined` if the values have different ones.
 * Before a function is called, this is compared with the arguments: a fast check, since a call of an operator mostly
 * tries overloads for other types first.
 */
function javascriptKind(type: CelType | undefined): string | undefined {
  return type?.kind === 'scalar' ? KINDS[type.name] : type && 'object';
}

function contentLengthOf(value: CelValue | undefined): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}

function findAtPath(value: CelValue, path: readonly string[]): CelValue | undefined {
  let at: CelValue | undefined = value;
  for (const step of path) {
    currentEvaluation().budget.chargeSteps(1);
    if (isCelMap(at)) at = at.get(step);
    else if (isCelList(at)) at = /^\d{1,9}$/.test(step) ? at.get(Number(step)) : undefined;
    else return undefined;
  }
  return at;
}

function parseJsonText(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error('this text is no JSON', { cause: error });
  }
}
