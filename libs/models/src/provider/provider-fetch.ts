import { applyProof, type RequestAuth } from '#libs/a2a-client';
import type { OutboundFetch } from '#libs/http-client';
import type { AnswerPlace } from '#libs/service';
import type { ModelSigner } from './model-signer.js';

/** Error of an answer with too many bytes. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
  constructor(maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`);
  }
}

/** Account of the bytes of an answer, and the signal that ends the wait for memory. */
export interface AnswerWatch {
  readonly place: Pick<AnswerPlace, 'countRead'> | undefined;
  readonly signal: AbortSignal;
}

/**
 * Wraps a `fetch` to limit the body of a response.
 * - A body of more than `maxBytes` (after decompression) fails with AnswerTooLong and is not read further.
 * - Reading waits until there is memory for the bytes.
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

/** Headers that the provider packages set and that are removed: placeholders for keys, and data about this machine. */
const OTHERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'user-agent'];

/** Default of the seconds until the first byte of an answer, and between two bytes. */
const WAIT_S = 120;

/**
 * Sends the requests of one call with a credential. After HTTP 401 the credential is renewed, if possible, and the
 * request is sent once more.
 */
export class SignedFetch {
  /** Secrets that were sent, to be redacted in errors. */
  secrets: readonly string[] = [];
  private used: RequestAuth | undefined;

  constructor(
    private readonly http: OutboundFetch,
    private readonly signer: ModelSigner,
    private readonly signal: AbortSignal,
    /** Maximum seconds until the first byte of an answer, and between two bytes. */
    private readonly waitSeconds = WAIT_S,
  ) {}

  readonly fetchSigned: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const auth = await this.signer.createAuth(url, this.signal);
    const answer = await this.#sendSigned(url, init, auth);
    if (answer.status !== 401 || auth === undefined) return answer;
    const other = await this.signer.renewAuth(url, auth, this.signal);
    if (other === undefined) return answer;
    await answer.body?.cancel();
    return this.#sendSigned(url, init, other);
  };

  /** Reports to the signer that the provider refused the credential. */
  noteRefusal(message: string): void {
    if (this.used !== undefined) this.signer.noteRefusal(this.used, message);
  }

  async #sendSigned(url: URL, init: RequestInit | undefined, auth: RequestAuth | undefined): Promise<Response> {
    const headers = new Headers(init?.headers);
    for (const name of OTHERS) headers.delete(name);
    const plain = Object.fromEntries(headers);
    this.used = auth;
    this.secrets = [...this.secrets, ...(auth?.secrets ?? [])];
    const call = auth === undefined ? { url, headers: plain } : applyProof(auth, url, plain);
    const { url: target, ...rest } = call;
    const waitMs = this.waitSeconds * 1_000;
    const times = { firstByteMs: waitMs, idleMs: waitMs };
    return this.http(target, { method: 'POST', ...init, ...rest, ...times, signal: this.signal });
  }
}
