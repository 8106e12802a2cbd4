import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';

const DECODERS = { gzip: createUnzip, 'x-gzip': createUnzip, deflate: createUnzip, br: createBrotliDecompress };

/** Whether a body in this content coding (RFC 9110, section 8.4.1) comes to its reader without it. */
export function isDecoded(coding: string): coding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, coding);
}

/** A body with its content coding taken off; as it is where the coding is none that the outbound client knows. */
export function decoded(body: AsyncIterable<Uint8Array>, coding: string): Readable {
  const source = Readable.from(body, { objectMode: false });
  const name = coding.toLowerCase();
  if (!isDecoded(name)) return source;
  // The outcome of either stream ends both; the error reaches whoever reads the second.
  return pipeline(source, DECODERS[name](), () => undefined);
}
