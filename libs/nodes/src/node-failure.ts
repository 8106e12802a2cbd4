import type { FailureNote } from '#libs/protocol';

/** Failure of a node's work. Callers see the text: it may quote a remote agent or a config, but no internals. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  /** Failure note for the node's run; absent for a plain failure. */
  readonly note: FailureNote | undefined;

  constructor(message: string, options: { cause?: unknown; note?: FailureNote | undefined } = {}) {
    super(message, { cause: options.cause });
    this.note = options.note;
  }
}
