const NEWLINE = 0x0a;

/** Splits incoming bytes into lines, in time linear in their length. Blank lines are skipped. */
export class LineReader {
  private pieces: Buffer[] = [];
  private length = 0;

  /** @param longest maximum length of a line in bytes */
  constructor(
    private readonly longest: number,
    private readonly line: (text: string) => void,
  ) {}

  /** @returns `false` if a line is too long; the reader must not be used afterwards */
  feed(piece: Buffer): boolean {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      if (!this.keep(piece.subarray(start, end))) return false;
      this.give();
      start = end + 1;
    }
    return this.keep(piece.subarray(start));
  }

  private keep(part: Buffer): boolean {
    this.length += part.byteLength;
    if (part.byteLength > 0) this.pieces.push(part);
    return this.length <= this.longest;
  }

  private give(): void {
    const text = Buffer.concat(this.pieces, this.length).toString();
    this.pieces = [];
    this.length = 0;
    if (text.trim() !== '') this.line(text);
  }
}
