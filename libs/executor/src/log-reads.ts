/** Bytes of logs that are read at once; a single log may be larger. */
const BYTES_AT_ONCE = 8 * 1024 * 1024;

/** Limits concurrent reads of long logs by their total bytes. Reads run in the order of their requests. */
export class LogReads {
  private bytes = 0;
  private readonly waiting: { bytes: number; begin: () => void }[] = [];

  /** Runs a read of `bytes` bytes once the earlier reads leave room for it. */
  async runRead<T>(bytes: number, read: () => Promise<T>): Promise<T> {
    if (this.waiting.length > 0 || !this.hasRoomFor(bytes))
      await new Promise<void>((begin) => this.waiting.push({ bytes, begin }));
    else this.bytes += bytes;
    try {
      return await read();
    } finally {
      this.bytes -= bytes;
      this.beginNext();
    }
  }

  private hasRoomFor(bytes: number): boolean {
    return this.bytes === 0 || this.bytes + bytes <= BYTES_AT_ONCE;
  }

  private beginNext(): void {
    for (let [next] = this.waiting; next && this.hasRoomFor(next.bytes); [next] = this.waiting) {
      this.waiting.shift();
      this.bytes += next.bytes;
      next.begin();
    }
  }
}
