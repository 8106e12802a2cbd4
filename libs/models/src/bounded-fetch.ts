import type { AnswerPlace } from '#libs/service';

/** Maximum bytes of an answer, as for the answers of agents. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Error of an answer that exceeds its limit. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
  constructor(maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`);
  }
}

/** Account for the bytes that are read, and the signal that ends the wait for memory. */
export interface AnswerWatch {
  readonly place: Pick<AnswerPlace, 'countRead'> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Wraps a `fetch`. A body fails with AnswerTooLong beyond `maxBytes`, decoded, and is read no further. Reading waits
 * until there is memory for the bytes.
 */
export function boundedFetch(send: typeof fetch, maxBytes: number, watch?: AnswerWatch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(countBytes(maxBytes, watch)), { status, statusText, headers });
  };
}

function countBytes(
  maxBytes: number,
  watch?: AnswerWatch,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    async transform(piece, controller) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw new AnswerTooLong(maxBytes);
      const room = watch?.place?.countRead(piece.byteLength, watch.signal);
      if (room) await room;
      controller.enqueue(piece);
    },
  });
}
