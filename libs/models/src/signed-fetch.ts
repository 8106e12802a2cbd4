import { type RequestAuth, applyProof } from '#libs/a2a-client';
import type { OutboundFetch } from '#libs/outbound';
import type { ModelSigner } from './model-signer.js';

/** Headers set by the providers' packages that are removed: placeholder keys, and data about this machine. */
const OTHERS = ['authorization', 'x-api-key', 'x-goog-api-key', 'user-agent'];

/** Time limits in milliseconds for the first byte, and between two bytes. */
const TIMES = { firstByteMs: 120_000, idleMs: 120_000 };

/**
 * Sends the requests of one call with a credential. After 401 it renews the credential, if possible, and sends once
 * more.
 */
export class SignedFetch {
  /** Secrets to redact from errors. */
  secrets: readonly string[] = [];
  private used: RequestAuth | undefined;

  constructor(
    private readonly http: OutboundFetch,
    private readonly signer: ModelSigner,
    private readonly signal: AbortSignal,
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
    return this.http(target, { method: 'POST', ...init, ...rest, ...TIMES, signal: this.signal });
  }
}
