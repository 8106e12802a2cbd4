import { EventEnds } from './event-ends.js';
import type { AnswerAccount } from './received-bytes.js';

/** Milliseconds from the first to the last byte of an event, or of an answer that is not a stream. */
export const LONGEST_UNFINISHED_MS = 60_000;
const SPACE = 0x20;

/**
 * Counts the bytes of a body that are read and not yet passed on: those of the current event, or of the whole answer.
 */
export class UnfinishedBytes {
  private readonly events: EventEnds | undefined;
  private held = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param late called if an event or answer does not end in time */
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
   * @throws AgentCallError if other answers leave no room for it
   */
  countPiece(piece: Uint8Array): void {
    if (this.events?.readPiece(piece)) this.releaseBytes();
    const added = this.events ? this.events.pending - this.held : this.answerBytes(piece);
    if (added === 0) return;
    this.timer ??= setTimeout(this.late, LONGEST_UNFINISHED_MS).unref();
    this.held += added;
    this.account.holdBytes(added);
  }

  /** Releases the held bytes, and stops the timer. */
  releaseBytes(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.held = 0;
    this.account.releaseBytes();
  }

  /**
   * Returns the bytes to count for an answer that is not a stream. Leading white space is a keep-alive and does not
   * count.
   */
  private answerBytes(piece: Uint8Array): number {
    return this.held > 0 || piece.some((code) => code > SPACE) ? piece.byteLength : 0;
  }
}
