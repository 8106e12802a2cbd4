import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/** How many instructions the expressions that are kept compiled may come to, over all scripts of the process. */
const MOST_KEPT = 200_000;

/** A regular expression of a script. Compiled where it is used and as long as it is used, once for all that are equal. */
export class Expression {
  private constructor(
    private readonly pattern: string,
    /** Instructions that it is compiled to. */
    readonly size: number,
  ) {}

  /** @throws where RE2 does not know it */
  static of(pattern: string): Expression {
    return new Expression(pattern, COMPILED.memo(pattern).programSize());
  }

  test(text: string): boolean {
    return COMPILED.memo(this.pattern).test(text);
  }
}

const COMPILED = new LRUCache<string, RE2JS>({
  maxSize: MOST_KEPT,
  sizeCalculation: (compiled) => compiled.programSize(),
  memoMethod: (pattern) => RE2JS.compile(pattern),
});
