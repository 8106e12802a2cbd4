const [NEWLINE, RETURN, COLON, LETTER_I] = [0x0a, 0x0d, 0x3a, 0x69];
/** Maximum length in bytes of a line with an event's id. The SDK keeps the id to resume the stream. */
export const LONGEST_ID_LINE = 4_096;

/**
 * Finds the ends of events in a stream (WHATWG HTML, section 9.2.6), however it is split into pieces. Comments do not
 * count toward an event.
 */
export class EventEnds {
  /** Bytes of the unfinished event, without its line ends. */
  pending = 0;
  /** True once a line with an id was longer than `LONGEST_ID_LINE`. */
  hasLongId = false;
  /** Length of the unfinished line, and its first byte. */
  private length = 0;
  private first = 0;
  /** True if the last byte was CR; an LF right after it belongs to the same line end. */
  private isAfterReturn = false;

  /**
   * Reads a piece of the stream.
   * @returns true if an event ended in it
   */
  readPiece(piece: Uint8Array): boolean {
    let hasEnd = false;
    let start = this.isAfterReturn && piece[0] === NEWLINE ? 1 : 0;
    let newline = piece.indexOf(NEWLINE, start);
    let back = piece.indexOf(RETURN, start);
    while (newline >= 0 || back >= 0) {
      const end = back < 0 || (newline >= 0 && newline < back) ? newline : back;
      this.growLine(piece[start], end - start);
      if (this.endLine()) hasEnd = true;
      start = end === back && newline === back + 1 ? end + 2 : end + 1;
      if (newline >= 0 && newline < start) newline = piece.indexOf(NEWLINE, start);
      if (back >= 0 && back < start) back = piece.indexOf(RETURN, start);
    }
    this.growLine(piece[start], piece.length - start);
    if (piece.length > 0) this.isAfterReturn = piece.at(-1) === RETURN;
    return hasEnd;
  }

  /** Adds bytes to the current line. `first` is the first of them. */
  private growLine(first: number | undefined, bytes: number): void {
    if (first === undefined || bytes <= 0) return;
    if (this.length === 0) this.first = first;
    this.length += bytes;
    if (this.first !== COLON) this.pending += bytes;
    if (this.first === LETTER_I && this.length > LONGEST_ID_LINE) this.hasLongId = true;
  }

  /** Ends a line. Returns true if it is blank, which ends an event. */
  private endLine(): boolean {
    const isBlank = this.length === 0;
    if (isBlank) this.pending = 0;
    this.length = 0;
    return isBlank;
  }
}
