const FAILURE = Symbol.for('parley-a2a/failure');

/** Ends work as failed with a sentence that callers may read. What any other error says stays with the operator. */
export class Failure extends Error {
  override readonly name: string = 'Failure';
  readonly [FAILURE] = true;
}

/** Whether an error is a Failure, whichever copy of the package it was made with. */
export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && FAILURE in error;
}

/** A step failed, now or when it was recorded; `message` is that of the error that it threw. */
export class StepError extends Error {
  override readonly name = 'StepError';

  /** The step's key. */
  readonly key: string;

  constructor(key: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.key = key;
  }
}
