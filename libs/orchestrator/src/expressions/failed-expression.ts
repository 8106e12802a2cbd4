import { ExpressionError } from '#libs/expressions';

/** An expression of a definition has no value in this run. The message says which one and why, and may be shown to callers. */
export class FailedExpression extends Error {
  override readonly name = 'FailedExpression';
}

/**
 * What evaluating an expression, or a template, gives.
 * @param member where it stands: `edges[3].when`, `config.prompt`
 * @throws FailedExpression
 */
export function evaluating<T>(member: string, evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const { message, offset, path } = error;
    throw new FailedExpression(`${pathIn(member, path)}, at ${offset}: ${message}`, { cause: error });
  }
}

/** The path of what stands at a path in a member. */
export function pathIn(member: string, path: string): string {
  return path === '' || path.startsWith('[') ? `${member}${path}` : `${member}.${path}`;
}
