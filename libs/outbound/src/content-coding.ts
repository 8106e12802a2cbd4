import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';

const DECODERS = { gzip: createUnzip, 'x-gzip': createUnzip, deflate: createUnzip, br: createBrotliDecompress };

/** True if bodies with this content coding (RFC 9110, section 8.4.1) are decoded for their reader. */
export function isDecoded(coding: string): coding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, coding);
}

/** Decodes a body; returns it unchanged if the content coding is unknown. */
export function decodeBody(body: AsyncIterable<Uint8Array>, coding: string): Readable {
  const source = Readable.from(body, { objectMode: false });
  const name = coding.toLowerCase();
  if (!isDecoded(name)) return source;
  // An error in either stream ends both and reaches the reader of the second.
  return pipeline(source, DECODERS[name](), () => undefined);
}
