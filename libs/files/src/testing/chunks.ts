import { Readable } from 'node:stream';

/** Returns a content in chunks of a size; the next chunk comes only after the previous one was read. */
export function inChunks(content: Buffer, size: number): Readable {
  const chunks = Array.from({ length: Math.ceil(content.length / size) }, (_, index) =>
    content.subarray(index * size, (index + 1) * size),
  );
  return Readable.from(chunks, { objectMode: false, highWaterMark: size });
}

/** Reads a content to its end. */
export async function whole(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Yields a content, then fails with an error. */
export async function* breakingOff(content: Buffer, error: Error): AsyncGenerator<Uint8Array> {
  yield content;
  throw error;
}
