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
    return new Expression(pattern, COMPILED.get(pattern).programSize());
  }

  test(text: string): boolean {
    return COMPILED.get(this.pattern).test(text);
  }
}

/** Expressions as they were compiled; what was used longest ago goes first. */
class CompiledExpressions {
  private readonly kept = new Map<string, RE2JS>();
  private size = 0;

  get(pattern: string): RE2JS {
    const compiled = this.kept.get(pattern) ?? this.compile(pattern);
    this.kept.delete(pattern);
    this.kept.set(pattern, compiled);
    return compiled;
  }

  private compile(pattern: string): RE2JS {
    const compiled = RE2JS.compile(pattern);
    this.size += compiled.programSize();
    for (const [oldest, program] of this.kept) {
      if (this.size <= MOST_KEPT) break;
      this.kept.delete(oldest);
      this.size -= program.programSize();
    }
    return compiled;
  }
}

const COMPILED = new CompiledExpressions();
