const MOST_KEPT = 64 * 1024;
const LAST_CHUNK = '0\r\n\r\n';

interface AnswerHead {
  /** Length of the body in bytes, if the head names it. */
  length: number | undefined;
  chunked: boolean;
  /** Offset at which the body begins. */
  from: number;
}

/** Parses HTTP as far as necessary to find the end of an answer. */
export class AnswerReader {
  private pieces: Buffer[] = [];
  private length = 0;
  private head: AnswerHead | undefined;
  status: number | undefined;
  stream = false;
  complete = false;
  /** True if the connection can be reused: the answer ended as its head had announced. */
  reusable = false;
  /** True if the answer says when to retry. */
  retryAfter = false;

  /** @param headOnly true for the answer to HEAD, which has no body */
  constructor(private readonly headOnly: boolean) {}

  /** Beginning of the answer. */
  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  get begun(): boolean {
    return this.length > 0;
  }

  take(chunk: Buffer): void {
    this.length += chunk.length;
    if (this.length - chunk.length < MOST_KEPT) this.pieces.push(chunk);
    if (this.stream || this.complete) return;
    this.head ??= this.read();
    if (this.head && !this.stream) this.settle(this.head, chunk);
  }

  /** Reads the head of the answer, after any response 100. */
  private read(): AnswerHead | undefined {
    const { text } = this;
    const start = text.search(/HTTP\/1\.1 (?!100)\d{3}/);
    const end = text.indexOf('\r\n\r\n', start);
    if (start < 0 || end < 0) return undefined;
    const head = text.slice(start, end).toLowerCase();
    this.status = Number(head.slice(9, 12));
    this.stream = this.status === 101 || head.includes('text/event-stream');
    this.retryAfter = head.includes('\r\nretry-after: ');
    this.reusable = start === 0 && !this.headOnly && !head.includes('\r\nconnection: close');
    const length = /content-length: (\d+)/.exec(head)?.[1];
    const chunked = head.includes('transfer-encoding: chunked');
    return { length: length === undefined ? undefined : Number(length), chunked, from: end + 4 };
  }

  private settle({ length, chunked, from }: AnswerHead, chunk: Buffer): void {
    const bodyless = this.headOnly || this.status === 204 || this.status === 304;
    if (bodyless) this.complete = true;
    else if (length !== undefined) this.complete = this.length - from >= length;
    else if (chunked) this.complete = this.endsChunks(chunk) || this.length > MOST_KEPT;
    this.reusable &&= bodyless ? this.length === from : length !== undefined && this.length - from <= length;
  }

  private endsChunks(chunk: Buffer): boolean {
    const tail = chunk.length < LAST_CHUNK.length ? this.text : chunk.subarray(-LAST_CHUNK.length).toString('latin1');
    return tail.endsWith(LAST_CHUNK);
  }
}
