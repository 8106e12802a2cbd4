import { ExpressionError } from '#libs/expressions';

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

/** Joins a member and a path within it. */
export function joinMemberPath(member: string, path: string): string {
  return path === '' || path.startsWith('[') ? `${member}${path}` : `${member}.${path}`;
}
