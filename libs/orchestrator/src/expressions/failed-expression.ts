import { ExpressionError } from '#libs/expressions';
import { joinMemberPath } from './expression-places.js';

/** Failure of an expression in a run. The message names the expression and the reason, and may be shown to callers. */
export class FailedExpression extends Error {
  override readonly name = 'FailedExpression';
}

/**
 * Evaluates an expression or a template.
 * @param member path that errors name: `edges[3].when`, `config.prompt`
 * @throws FailedExpression
 */
export function evaluateMember<T>(member: string, evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, offset, path } = error;
    throw new FailedExpression(`${joinMemberPath(member, path)}, at ${offset}: ${message}`, { cause: error });
  }
}
