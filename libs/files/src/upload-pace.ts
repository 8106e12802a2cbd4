import type { Readable } from 'node:stream';

const LOOK_EVERY_MS = 30_000;
/** Minimum bytes between two checks: 4 KiB a second. */
const LEAST_BYTES = 120 * 1024;

/** Connection of an upload, as far as its pace is measured. */
export interface UploadConnection {
  /** Number of bytes that have arrived, headers included. */
  readonly bytesRead: number;
}

/**
 * Cuts an upload whose client sends less than 4 KiB a second over half a minute, since it would occupy a slot. A client
 * that waits for this service to read arrived data is not slow.
 * @returns the function that ends the watch
 */
export function watchPace(body: Readable, connection: UploadConnection): () => void {
  let before = connection.bytesRead;
  const timer = setInterval(() => {
    const arrived = connection.bytesRead - before;
    before += arrived;
    // `isPaused` is true for every body that an iterator reads.
    const waitsForUs = body.readableLength > 0;
    if (arrived < LEAST_BYTES && !waitsForUs && !body.readableEnded) body.destroy();
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}
