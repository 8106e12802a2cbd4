const FAILURE = Symbol.for('parley-a2a/failure');

/**
 * Error that fails the Task, or the call of a tool, with a message that callers see. The message of any other error
 * appears only in the log of the operator.
 */
export class Failure extends Error {
  override readonly name: string = 'Failure';
  readonly [FAILURE] = true;
}

/** True if an error is a Failure, even one of another copy of this package. */
export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && FAILURE in error;
}

/**
 * Error of a step whose function threw, in this execution or in the one that recorded the step. `message` is the
 * message of the thrown error.
 */
export class StepError extends Error {
  override readonly name = 'StepError';

  /** Key of the step that failed. */
  readonly key: string;

  constructor(key: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.key = key;
  }
}
