import { briefText } from './brief-text.js';

const LONGEST_PATH = 200;

/** JSON that can be read and not passed on. */
export class UnfitJson extends Error {
  override readonly name = 'UnfitJson';

  /** @param path of the member at fault, `''` for the whole */
  constructor(
    readonly reason: 'infinite' | 'deep',
    readonly path: string,
    readonly detail: string,
  ) {
    super(path === '' ? detail : `${path} ${detail}`);
  }
}

/** Returns the refusal of JSON that is nested too deep: what recurses over it would overflow the stack. */
export function tooDeep(deepest: number): UnfitJson {
  return new UnfitJson('deep', '', `must not be nested deeper than ${deepest} levels`);
}

/**
 * Returns what is wrong with a parsed value, the first in the order of its text: a number that is not finite (`1e999` is
 * read as Infinity, and would be written as `null`), with its path as `inputs.prices[3]`, or nesting. Uses no recursion:
 * the value may be nested as deep as a parser reads. A long path is cut.
 * @param deepest levels of lists and objects that may lie in each other
 */
export function unfitValue(value: unknown, deepest = Infinity): UnfitJson | undefined {
  const way: Level[] = [];
  let at = value;
  for (;;) {
    if (way.length > deepest) return tooDeep(deepest);
    if (typeof at === 'number' && !Number.isFinite(at))
      return new UnfitJson('infinite', pathOf(way), 'must be a finite number');
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

/** An object or a list on the way to the value that is looked at. Names are read where a fault is found. */
interface Level {
  readonly container: object;
  readonly values: readonly unknown[];
  read: number;
}

function levelOf(container: object): Level {
  return { container, values: Array.isArray(container) ? container : Object.values(container), read: 0 };
}

function pathOf(way: readonly Level[]): string {
  let path = '';
  for (const { container, read } of way) {
    if (path.length > LONGEST_PATH) break;
    if (Array.isArray(container)) path += `[${read - 1}]`;
    else path += `${path === '' ? '' : '.'}${Object.keys(container)[read - 1] ?? ''}`;
  }
  return briefText(path, LONGEST_PATH);
}
