import { EventEnds } from './event-ends.js';
import type { AnswerAccount } from './received-bytes.js';

/** Milliseconds that an event of a stream, or an answer that is none, may take from its first byte to its last. */
export const LONGEST_UNFINISHED_MS = 60_000;
const SPACE = 0x20;

/** The bytes of a body that were read and belong to nothing whole yet: to an event of its stream, or to all of it. */
export class UnfinishedBytes {
  private readonly events: EventEnds | undefined;
  private held = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param late called where what has begun does not end in time */
  constructor(
    private readonly account: AnswerAccount,
    isStream: boolean,
    private readonly late: () => void,
  ) {
    this.events = isStream ? new EventEnds() : undefined;
  }

  get hasLongId(): boolean {
    return this.events?.hasLongId === true;
  }

  /**
   * Counts a piece of the body.
   * @throws AgentCallError where other answers leave no room for it
   */
  take(piece: Uint8Array): void {
    if (this.events?.take(piece)) this.release();
    const added = this.events ? this.events.pending - this.held : this.begun(piece);
    if (added === 0) return;
    this.timer ??= setTimeout(this.late, LONGEST_UNFINISHED_MS).unref();
    this.held += added;
    this.account.take(added);
  }

  /** Gives back what is held: it has been passed on, or will not be. */
  release(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.held = 0;
    this.account.release();
  }

  /** Counts an answer that is no stream. White space before it says only that its server is alive. */
  private begun(piece: Uint8Array): number {
    return this.held > 0 || piece.some((code) => code > SPACE) ? piece.byteLength : 0;
  }
}
