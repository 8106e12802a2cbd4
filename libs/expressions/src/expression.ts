import { type CelValue, isCelError, plan } from '@bufbuild/cel';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { JsonValue } from '#libs/protocol';
import { callMaker, type Evaluation, EvaluationBudget, runEvaluation } from './evaluation.js';
import { ExpressionError, InvalidExpression, plainMessage } from './expression-error.js';
import { ENVIRONMENT } from './functions/environment.js';
import { parsedSource } from './source.js';
import { type Reference, SyntaxCheck, type Vocabulary } from './syntax-check.js';
import { asTimestamp, type Result, toCel, toJsonResult, type Value } from './values.js';

/** Variables of an evaluation, by name. A function is called each time the expression reads its variable. */
export type Variables = Readonly<Record<string, Value | undefined | (() => Value)>>;

/** Compiled CEL expression. It keeps no state between evaluations and may be evaluated any number of times. */
export interface Expression {
  readonly text: string;
  /** References to variables, ordered by offset. A variable that the text names twice has two references. */
  readonly references: readonly Reference[];
}

/** Checks and compiles a CEL expression, or returns its first fault. The time is bounded for any text. */
export function compileExpression(text: string, vocabulary: Vocabulary): Expression | InvalidExpression {
  try {
    return new CompiledExpression(text, vocabulary);
  } catch (error) {
    if (error instanceof InvalidExpression) return error;
    throw error;
  }
}

/**
 * Returns the value of an expression as JSON. One evaluation takes at most 0.2 s and some dozen MB.
 * @param variables values of the variables
 * @param budget limit of steps, which several evaluations may share; default: a new budget
 * @throws ExpressionError if the expression has no value, or exceeds the budget
 */
export function evaluateExpression(expression: Expression, variables: Variables, budget?: EvaluationBudget): JsonValue {
  return evaluateMeasured(expression, variables, budget).value;
}

/**
 * Returns the boolean value of a condition.
 * @throws ExpressionError as `evaluateExpression` does, and for a value that is not a boolean
 */
export function evaluateCondition(expression: Expression, variables: Variables, budget?: EvaluationBudget): boolean {
  return requireCompiled(expression).runPlan(variables, budget, (value) => {
    if (typeof value !== 'boolean') throw new Error('this is neither true nor false');
    return value;
  });
}

/**
 * Returns the timestamp that an expression yields.
 * @throws ExpressionError as `evaluateExpression` does, and for a value that is not a timestamp
 */
export function evaluatePointInTime(expression: Expression, variables: Variables, budget?: EvaluationBudget): Date {
  return requireCompiled(expression).runPlan(variables, budget, (value) => {
    const timestamp = asTimestamp(value);
    if (timestamp === undefined) throw new Error('this is no timestamp');
    return timestampDate(timestamp);
  });
}

/** Returns the value of an expression as JSON, with its size in bytes. */
export function evaluateMeasured(expression: Expression, variables: Variables, budget?: EvaluationBudget): Result {
  return requireCompiled(expression).runPlan(variables, budget, toJsonResult);
}

function requireCompiled(expression: Expression): CompiledExpression {
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

  /** Evaluates the expression, and converts its value by the function `read`. @throws ExpressionError */
  runPlan<T>(variables: Variables, budget = new EvaluationBudget(), read: (value: CelValue) => T): T {
    const patterns = new Map(this.check.patterns);
    const evaluation: Evaluation = { budget, patterns, clocks: new Map() };
    return runEvaluation(evaluation, () => {
      const outcome = this.evaluatePlan(this.bindVariables(variables), read);
      if (evaluation.fault !== undefined) throw evaluation.fault.error;
      if (budget.exceeded) throw new ExpressionError(budget.exceeded.message, errorOffset(outcome));
      if (outcome instanceof ExpressionError) throw outcome;
      return outcome;
    });
  }

  private evaluatePlan<T>(bindings: Record<string, CelValue>, read: (value: CelValue) => T): T | ExpressionError {
    try {
      const value = this.plan(bindings);
      if (!isCelError(value)) return read(value);
      return new ExpressionError(plainMessage(value), this.check.offsetOf(value.exprId ?? 0n), '', value);
    } catch (error) {
      return new ExpressionError(error instanceof Error ? plainMessage(error) : String(error), 0, '', error);
    }
  }

  /** Binds each variable to a getter, so that only the variables that the expression reads get their values. */
  private bindVariables(variables: Variables): Record<string, CelValue> {
    const bindings = Object.create(null) as Record<string, CelValue>;
    for (const name of this.names) Object.defineProperty(bindings, name, { get: () => bindVariable(variables, name) });
    return bindings;
  }
}

function bindVariable(variables: Variables, name: string): CelValue | undefined {
  const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
  const value = typeof given === 'function' ? callMaker(given) : given;
  return value === undefined ? undefined : toCel(value);
}

function errorOffset(outcome: unknown): number {
  return outcome instanceof ExpressionError ? outcome.offset : 0;
}
