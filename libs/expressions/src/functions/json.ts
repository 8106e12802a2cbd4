import { type CelFunc, celFunc, CelScalar, type CelValue, isCelList, isCelMap } from '@bufbuild/cel';
import { briefText, type JsonValue, parseJson } from '#libs/protocol';
import { currentEvaluation } from '../evaluation.js';
import { toCel } from '../values.js';

const { DYN, STRING } = CelScalar;
const STEP = /[^.[\]]+/g;
const PATH = /^(?:[^.[\]]+|\[\d+\])(?:\.[^.[\]]+|\[\d+\])*$/;

/** Functions `get(value, path, default)` and `parseJson(text)`, which the CEL standard lacks. */
export const JSON_FUNCTIONS: readonly CelFunc[] = [
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
