import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** Minimum bytes of memory that are freed explicitly; smaller buffers may belong to a pool. */
const LEAST_BYTES = 16 * 1024;

/**
 * Frees the memory of a chunk as soon as it is used. Without this, some sixty megabytes of used chunks wait for the
 * garbage collector in each process that transfers a large file. A chunk is freed only if it spans its whole memory:
 * no other array then uses that memory.
 */
export function freeChunk(chunk: Uint8Array): void {
  if (spansMemory(chunk)) freeMemory(chunk.buffer);
}

/** True if a chunk spans its whole memory, and is large enough to be freed. */
function spansMemory(chunk: Uint8Array): chunk is Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = chunk;
  return byteLength >= LEAST_BYTES && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer;
}

/** Frees memory. Arrays over it are empty afterwards. */
function freeMemory(memory: ArrayBuffer): void {
  if (!memory.detached) memory.transfer(0);
}

/** Passes chunks on, and frees each when its reader requests the next one. */
export async function* freeingChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    freeChunk(chunk);
  }
}

/**
 * Frees the memory of chunks that are piped into a response. Whenever the response has sent all chunks that it got so
 * far, these chunks are freed.
 */
export function freeSentChunks(content: Readable, response: ServerResponse): void {
  let sent: Uint8Array[] = [];
  response.once('pipe', () => content.on('data', (chunk: Uint8Array) => void sent.push(chunk)));
  response.on('drain', () => {
    if (response.writableLength > 0) return;
    for (const chunk of sent) freeChunk(chunk);
    sent = [];
  });
}
