const NEWLINE = 0x0a;

/** Takes bytes as they come and gives the lines in them, each once, in time that grows with their length alone. */
export class LineReader {
  private pieces: Buffer[] = [];
  private length = 0;

  /** @param longest bytes of one line */
  constructor(
    private readonly longest: number,
    private readonly line: (text: string) => void,
  ) {}

  /** @returns `false` where a line is longer than it may be; then there is no going on */
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
