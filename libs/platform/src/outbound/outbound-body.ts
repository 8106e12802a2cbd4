import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Dispatcher } from 'undici';

/** The content codings (RFC 9110, section 8.4.1) that the outbound door takes off. */
const DECODERS = { gzip: createUnzip, 'x-gzip': createUnzip, deflate: createUnzip, br: createBrotliDecompress };

/** The body of an answer with its content coding taken off; the answer's own stream where it has none. */
export function decodedBody(answer: Dispatcher.ResponseData): Readable {
  const encoding = String(answer.headers['content-encoding'] ?? '').toLowerCase();
  if (!Object.hasOwn(DECODERS, encoding)) return answer.body;
  const decoder = DECODERS[encoding as keyof typeof DECODERS]();
  // The outcome of either stream ends both; the error reaches whoever reads the second.
  pipeline(answer.body, decoder, () => undefined);
  return decoder;
}
