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
import { currentEvaluation } from '../evaluation.js';
import { ARITHMETIC } from './arithmetic.js';
import { EQUALITY } from './equality.js';
import { JSON_FUNCTIONS } from './json.js';
import { PATTERNS } from './patterns.js';
import { TEXT } from './text.js';
import { TIME } from './time.js';

const { BOOL, DYN, INT } = CelScalar;

/** Function that wraps the range of a macro and charges its iterations first. */
const EACH = celFunc('@each', [DYN, INT, BOOL], DYN, (range, weight, innermost) => {
  if (isCelList(range) || isCelMap(range))
    currentEvaluation().budget.chargeVisit(range.size, Number(weight), innermost);
  return range;
});

const OWN: readonly CelFunc[] = [...ARITHMETIC, ...EQUALITY, ...TEXT, ...PATTERNS, ...TIME, ...JSON_FUNCTIONS, EACH];

/** Extra steps of a call by function, beyond the steps that any part of an expression costs. */
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
/** Factor on the read cost where a text becomes bytes or bytes become a text. */
const CONVERSION = 8;

/** Functions of expressions: the standard's, replaced where they are unbounded or wrong, and our own. */
export const ENVIRONMENT = celEnv({
  funcs: [
    ...[...celEnv().funcs].map((func) => meterFunction(func, true)),
    ...OWN.map((func) => meterFunction(func, false)),
  ],
});

/**
 * Wraps a function so that its errors have a position and its calls are charged.
 * @param counted true if the wrapper charges the texts that the function reads
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
 * Returns the `typeof` of a type's values. Most calls of an operator try wrong overloads first.
 */
function javascriptKind(type: CelType | undefined): string | undefined {
  return type?.kind === 'scalar' ? KINDS[type.name] : type && 'object';
}

function contentLengthOf(value: CelValue | undefined): number {
  return typeof value === 'string' || value instanceof Uint8Array ? value.length : 0;
}
