import { PublicFault } from '#libs/faults';
import { briefText } from '#libs/protocol';

/**
 * Error in the text of an expression or a template, found when it is compiled. The message is for the author of the
 * workflow.
 */
export class InvalidExpression extends PublicFault {
  override readonly name = 'InvalidExpression';

  /**
   * @param offset position in the text, in UTF-16 code units
   * @param path path of the text in a template with several (`items[0].name`); `''` for a single text
   */
  constructor(
    message: string,
    readonly offset: number,
    readonly path = '',
  ) {
    super(message);
  }

  override get kind(): 'invalid' {
    return 'invalid';
  }
}

/**
 * Error of a valid expression whose evaluation gives no value. The message may be shown to anyone who may see the run.
 */
export class ExpressionError extends PublicFault {
  override readonly name = 'ExpressionError';
  readonly kind = 'expression';

  /**
   * @param offset position in the text, in UTF-16 code units
   * @param path path of the text in a template with several; `''` for a single text
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

/**
 * Returns the message of an error of the CEL evaluator, without the evaluator's internal names; at most 300 characters.
 */
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
