import { type CelValue, isCelError, plan } from '@bufbuild/cel';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { JsonValue } from '#libs/protocol';
import { type Evaluation, during, made } from './evaluation.js';
import { EvaluationBudget } from './evaluation-budget.js';
import { ExpressionError, InvalidExpression, plainMessage } from './expression-error.js';
import { ENVIRONMENT } from './functions/environment.js';
import { type Result, resultOf } from './result.js';
import { parsedSource } from './source.js';
import { SyntaxCheck } from './syntax-check.js';
import { asTimestamp, toCel, type Value } from './values.js';
import type { Reference, Vocabulary } from './vocabulary.js';

/** The variables of an evaluation by name; one that is a function is made when it is first asked for. */
export type Variables = Readonly<Record<string, Value | undefined | (() => Value)>>;

/** An expression that was checked. It keeps nothing of its evaluations and may be evaluated any number of times. */
export interface Expression {
  readonly text: string;
  /** What it names, from what stands first in it on, as often as it does. */
  readonly references: readonly Reference[];
}

/** Checks an expression; no text takes long. */
export function compile(text: string, vocabulary: Vocabulary): Expression | InvalidExpression {
  try {
    return new CompiledExpression(text, vocabulary);
  } catch (error) {
    if (error instanceof InvalidExpression) return error;
    throw error;
  }
}

/**
 * The value of an expression as JSON. Whatever it is given, this takes a fifth of a second at most, and some dozen MB.
 * @param budget what it may come to, together with all else that shares it
 * @throws ExpressionError where it has no value, or none within the budget
 */
export function evaluate(expression: Expression, variables: Variables, budget?: EvaluationBudget): JsonValue {
  return evaluated(expression, variables, budget).value;
}

/** The value of an expression that asks something. Anything but a boolean is an error, never false. */
export function decide(expression: Expression, variables: Variables, budget?: EvaluationBudget): boolean {
  return compiled(expression).run(variables, budget, (value) => {
    if (typeof value !== 'boolean') throw new Error('this is neither true nor false');
    return value;
  });
}

/** The value of an expression that says when. */
export function pointInTime(expression: Expression, variables: Variables, budget?: EvaluationBudget): Date {
  return compiled(expression).run(variables, budget, (value) => {
    const timestamp = asTimestamp(value);
    if (timestamp === undefined) throw new Error('this is no timestamp');
    return timestampDate(timestamp);
  });
}

/** Like `evaluate`, with the size of the result. */
export function evaluated(expression: Expression, variables: Variables, budget?: EvaluationBudget): Result {
  return compiled(expression).run(variables, budget, resultOf);
}

function compiled(expression: Expression): CompiledExpression {
  if (expression instanceof CompiledExpression) return expression;
  throw new TypeError('an expression comes from compile()');
}

class CompiledExpression implements Expression {
  readonly references: readonly Reference[];
  private readonly check: SyntaxCheck;
  private readonly plan: ReturnType<typeof plan>;
  private readonly names: ReadonlySet<string>;

  constructor(
    readonly text: string,
    vocabulary: Vocabulary,
  ) {
    const source = parsedSource(text);
    this.check = new SyntaxCheck(source, text, vocabulary);
    this.references = this.check.references.toSorted((one, other) => one.offset - other.offset);
    this.names = new Set(this.references.map(({ variable }) => variable));
    this.plan = plan(ENVIRONMENT, source);
  }

  /** @throws ExpressionError */
  run<T>(variables: Variables, budget = new EvaluationBudget(), read: (value: CelValue) => T): T {
    const patterns = new Map(this.check.patterns);
    const evaluation: Evaluation = { budget, patterns, clocks: new Map() };
    return during(evaluation, () => {
      const outcome = this.outcome(this.bindings(variables), read);
      if (evaluation.fault !== undefined) throw evaluation.fault.error;
      if (budget.exceeded) throw new ExpressionError(budget.exceeded.message, offsetOf(outcome));
      if (outcome instanceof ExpressionError) throw outcome;
      return outcome;
    });
  }

  private outcome<T>(bindings: Record<string, CelValue>, read: (value: CelValue) => T): T | ExpressionError {
    try {
      const value = this.plan(bindings);
      if (!isCelError(value)) return read(value);
      return new ExpressionError(plainMessage(value), this.check.offsetOf(value.exprId ?? 0n), '', value);
    } catch (error) {
      return new ExpressionError(error instanceof Error ? plainMessage(error) : String(error), 0, '', error);
    }
  }

  /** Each is made when the planner asks for it. */
  private bindings(variables: Variables): Record<string, CelValue> {
    const bindings = Object.create(null) as Record<string, CelValue>;
    for (const name of this.names) Object.defineProperty(bindings, name, { get: () => bound(variables, name) });
    return bindings;
  }
}

function bound(variables: Variables, name: string): CelValue | undefined {
  const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
  const value = typeof given === 'function' ? made(given) : given;
  return value === undefined ? undefined : toCel(value);
}

function offsetOf(outcome: unknown): number {
  return outcome instanceof ExpressionError ? outcome.offset : 0;
}
