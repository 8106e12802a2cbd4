import { briefText } from '#libs/protocol';

/** What is wrong with the text of an expression or a template. The message is for its author. */
export class InvalidExpression extends Error {
  override readonly name = 'InvalidExpression';

  /**
   * @param offset where in the text, in UTF-16 code units
   * @param path where the text stands in a template of several (`items[0].name`); '' where there is but one
   */
  constructor(
    message: string,
    readonly offset: number,
    readonly path = '',
  ) {
    super(message);
  }
}

/** An expression has no value in this run. The message may be shown to whoever sees the run. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly kind = 'expression';

  /**
   * @param offset where in the text, in UTF-16 code units
   * @param path where the text stands in a template of several; '' where there is but one
   */
  constructor(
    message: string,
    readonly offset: number,
    readonly path = '',
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

const LONGEST_MESSAGE = 300;
const INTERNAL = new Set(['TypeError', 'RangeError', 'ReferenceError']);
const OVERLOAD = /^found no matching overload for '?(.+?)'? applied to '(.*)'$/s;

/** What an evaluator's error says, in a sentence that needs no knowledge of the evaluator. */
export function plainMessage(error: Error): string {
  const { cause } = error;
  if (cause instanceof Error && INTERNAL.has(cause.name)) return 'this cannot be evaluated';
  const message = error.message
    .replace(OVERLOAD, '$1 does not take $2')
    .replace(/(?<=^|\s)[_@]([^\s\w]+|in)_?(?=$|\s)/, '$1')
    .replace('_?_:_', '?:')
    .replace(' [0, -1)', '')
    .replace('unresolved attribute', 'this has no value here');
  return briefText(message, LONGEST_MESSAGE);
}
