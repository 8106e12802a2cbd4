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
  feedBytes(piece: Buffer): boolean {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      if (!this.keepPart(piece.subarray(start, end))) return false;
      this.emitLine();
      start = end + 1;
    }
    return this.keepPart(piece.subarray(start));
  }

  private keepPart(part: Buffer): boolean {
    this.length += part.byteLength;
    if (part.byteLength > 0) this.pieces.push(part);
    return this.length <= this.longest;
  }

  private emitLine(): void {
    const text = Buffer.concat(this.pieces, this.length).toString();
    this.pieces = [];
    this.length = 0;
    if (text.trim() !== '') this.line(text);
  }
}
