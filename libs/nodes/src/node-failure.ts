import type { FailureNote } from '#libs/protocol';

/** Why a node could not do its work. The text is shown to callers: it quotes a remote or a config, never our internals. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
  /** What the node's run is told of it; absent: that the node failed. */
  readonly note: FailureNote | undefined;

  constructor(message: string, options: { cause?: unknown; note?: FailureNote | undefined } = {}) {
    super(message, { cause: options.cause });
    this.note = options.note;
  }
}
