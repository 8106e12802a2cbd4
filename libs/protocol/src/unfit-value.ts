import { briefText } from './brief-text.js';

const LONGEST_PATH = 200;

/** JSON that can be parsed but not passed on. */
export class UnfitJson extends Error {
  override readonly name = 'UnfitJson';

  /** @param path path of the invalid member, `''` for the whole */
  constructor(
    readonly reason: 'infinite' | 'deep',
    readonly path: string,
    readonly detail: string,
  ) {
    super(path === '' ? detail : `${path} ${detail}`);
  }
}

/** Creates the error for JSON nested too deep: recursive code would overflow the stack. */
export function tooDeep(deepest: number): UnfitJson {
  return new UnfitJson('deep', '', `must not be nested deeper than ${deepest} levels`);
}

/**
 * Finds the first problem of a parsed value, in text order. Problems are nesting beyond `deepest`, and numbers that are
 * not finite, with their path such as `inputs.prices[3]`: `1e999` parses as Infinity and would be written as `null`.
 * Uses no recursion. A long path is truncated.
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

/** Object or list on the way to the current value. Names are read only when a problem is found. */
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
