import { type OutboundAnswer, type OutboundRequester, OutboundTooLongError } from '#libs/outbound';

/** A `fetch` whose own limits may be set; 0 turns one off. */
export type AgentFetch = (
  input: string | URL | Request,
  init?: RequestInit & { firstByteMs?: number; idleMs?: number },
) => Promise<Response>;

/** The outbound client, as far as agents need it; OutboundHttp is one. */
export interface AgentHttp {
  readonly fetch: AgentFetch;
  /** A GET through an HTTP cache that honours `max-age` and `ETag`. */
  readonly cachedFetch: AgentFetch;
  /** The same calls without the objects of the web, which cost more than the call. Absent: `fetch` does their work. */
  readonly request?: OutboundRequester;
  readonly cachedRequest?: OutboundRequester;
  /** Until when the cache alone answers a GET (`Date.now()`); 0, or absent, where it has to be asked at each call. */
  readonly freshUntil?: (url: URL, headers: Record<string, string>) => number;
}

/** The client's `request` where there is only a `fetch`. */
export function fetchRequester(send: AgentFetch): OutboundRequester {
  return async ({ url, ...init }) => new FetchedAnswer(await send(url.href, init));
}

/** A Response as an answer of the client's `request`. */
export class FetchedAnswer implements OutboundAnswer {
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(private readonly response: Response) {}

  get status(): number {
    return this.response.status;
  }

  header(name: string): string | undefined {
    return this.response.headers.get(name) ?? undefined;
  }

  async text(maxBytes: number): Promise<string> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of this.pieces()) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw new OutboundTooLongError(maxBytes);
      pieces.push(piece);
    }
    return Buffer.concat(pieces, bytes).toString();
  }

  async *pieces(): AsyncIterable<Uint8Array> {
    this.#reader = this.response.body?.getReader();
    try {
      for (let next = await this.#reader?.read(); next?.value; next = await this.#reader?.read()) yield next.value;
    } finally {
      this.discard();
    }
  }

  discard(): void {
    (this.#reader ?? this.response.body)?.cancel().catch(() => undefined);
  }
}
