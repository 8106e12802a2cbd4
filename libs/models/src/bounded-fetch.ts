import type { AnswerPlace } from '#libs/service';

/** As many as an agent's answer may have. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** An answer is longer than anybody can use. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
  constructor(maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`);
  }
}

/** Account of what is read, and what ends the wait for room. */
export interface AnswerWatch {
  readonly place: Pick<AnswerPlace, 'read'> | undefined;
  readonly signal: AbortSignal;
}

/** A `fetch` whose bodies fail with AnswerTooLong beyond so many bytes, decoded; the rest is not read. Its bodies wait for room. */
export function boundedFetch(send: typeof fetch, maxBytes: number, watch?: AnswerWatch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(counted(maxBytes, watch)), { status, statusText, headers });
  };
}

function counted(
  maxBytes: number,
  watch?: AnswerWatch,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    async transform(piece, controller) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw new AnswerTooLong(maxBytes);
      const room = watch?.place?.read(piece.byteLength, watch.signal);
      if (room) await room;
      controller.enqueue(piece);
    },
  });
}
