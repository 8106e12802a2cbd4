import { type CelFunc, celFunc, CelScalar, type CelValue, isCelList, isCelMap } from '@bufbuild/cel';
import { briefText, type JsonValue } from '#libs/protocol';
import { evaluation } from '../evaluation.js';
import { toCel } from '../values.js';

const { DYN, STRING } = CelScalar;
const STEP = /[^.[\]]+/g;
const PATH = /^(?:[^.[\]]+|\[\d+\])(?:\.[^.[\]]+|\[\d+\])*$/;

/** What the standard lacks for JSON that others made. */
export const JSON_FUNCTIONS: readonly CelFunc[] = [
  celFunc('get', [DYN, STRING, DYN], DYN, (value, path, otherwise) => {
    evaluation().budget.read(path.length * 8);
    if (!PATH.test(path))
      throw new Error(`"${briefText(path, 50)}" is no path: names with dots between them, [0] in lists`);
    return found(value, path.match(STEP) ?? []) ?? otherwise;
  }),
  celFunc('parseJson', [STRING], DYN, (text) => {
    evaluation().budget.read(text.length * 4);
    return toCel(parsed(text));
  }),
];

function found(value: CelValue, path: readonly string[]): CelValue | undefined {
  let at: CelValue | undefined = value;
  for (const step of path) {
    evaluation().budget.spend(1);
    if (isCelMap(at)) at = at.get(step);
    else if (isCelList(at)) at = /^\d{1,9}$/.test(step) ? at.get(Number(step)) : undefined;
    else return undefined;
  }
  return at;
}

/** `1e999` is read as Infinity, which is nothing that JSON could say again. */
const MAY_BE_NO_NUMBER = /[eE]\+?\d{3}|\d{309}/;

function finite(_name: string, value: JsonValue): JsonValue {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError('a number is not finite');
  return value;
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text, MAY_BE_NO_NUMBER.test(text) ? finite : undefined) as JsonValue;
  } catch (error) {
    throw new Error('this text is no JSON', { cause: error });
  }
}
