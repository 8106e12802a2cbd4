import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/** Maximum number of instructions of all compiled expressions in this process. */
const MOST_KEPT = 200_000;

/** Regular expression of a script. Equal expressions share one compiled form; the least recently used ones are evicted. */
export class ScriptExpression {
  private constructor(
    private readonly pattern: string,
    /** Number of compiled instructions. */
    readonly size: number,
  ) {}

  /** Compiles a pattern. @throws if RE2 does not support it */
  static compilePattern(pattern: string): ScriptExpression {
    return new ScriptExpression(pattern, COMPILED.memo(pattern).programSize());
  }

  matchesText(text: string): boolean {
    return COMPILED.memo(this.pattern).test(text);
  }
}

const COMPILED = new LRUCache<string, RE2JS>({
  maxSize: MOST_KEPT,
  sizeCalculation: (compiled) => compiled.programSize(),
  memoMethod: (pattern) => RE2JS.compile(pattern),
});
