import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { CallLimits } from './call-limits.js';
import { decodedBody } from './outbound-body.js';
import type { OutboundAnswer } from './outbound-call.js';
import { OutboundTooLongError } from './outbound-errors.js';

/** An OutboundAnswer over one of undici's `request`. */
export class UndiciAnswer implements OutboundAnswer {
  constructor(
    private readonly answer: Dispatcher.ResponseData,
    private readonly limits: CallLimits,
  ) {}

  get status(): number {
    return this.answer.statusCode;
  }

  header(name: string): string | undefined {
    const value = this.answer.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  async text(maxBytes: number): Promise<string> {
    const body = decodedBody(this.answer);
    const length = Number(this.header('content-length'));
    try {
      // undici holds the peer to the length that it told.
      if (body === this.answer.body && length <= maxBytes) return await this.answer.body.text();
      return await boundedText(body, maxBytes);
    } catch (error) {
      throw this.limits.failure(error);
    }
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    try {
      yield* decodedBody(this.answer) as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.limits.failure(error);
    }
  }

  discard(): void {
    this.answer.body.on('error', () => undefined).destroy();
  }
}

async function boundedText(body: Readable, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw new OutboundTooLongError(maxBytes);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes).toString();
}
