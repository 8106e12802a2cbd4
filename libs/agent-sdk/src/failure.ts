const FAILURE = Symbol.for('parley-a2a/failure');

/** Error that fails the work with a sentence for callers. The message of any other error is for the operator alone. */
export class Failure extends Error {
  override readonly name: string = 'Failure';
  readonly [FAILURE] = true;
}

/** True if an error is a Failure, from any copy of the package. */
export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && FAILURE in error;
}

/** Error of a step that failed, now or when it was recorded; `message` is that of the thrown error. */
export class StepError extends Error {
  override readonly name = 'StepError';

  /** Key of the step. */
  readonly key: string;

  constructor(key: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.key = key;
  }
}
