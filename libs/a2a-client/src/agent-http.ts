import { type OutboundAnswer, type OutboundRequester, OutboundTooLongError } from '#libs/outbound';

/** `fetch` with its own limits; 0 turns one off. */
export type AgentFetch = (
  input: string | URL | Request,
  init?: RequestInit & { firstByteMs?: number; idleMs?: number },
) => Promise<Response>;

/** Part of the outbound client that agents need; OutboundHttp implements it. */
export interface AgentHttp {
  readonly fetch: AgentFetch;
  /** GET through an HTTP cache that honors `max-age` and `ETag`. */
  readonly cachedFetch: AgentFetch;
  /** Calls without Fetch API objects, which cost more than the call. Absent: `fetch` is used. */
  readonly request?: OutboundRequester;
  readonly cachedRequest?: OutboundRequester;
  /** Returns until when (`Date.now()`) the cache alone answers a GET; 0, or absent, if each call needs a request. */
  readonly freshUntil?: (url: URL, headers: Record<string, string>) => number;
}

/** Implements `request` with a `fetch`. */
export function fetchRequester(send: AgentFetch): OutboundRequester {
  return async ({ url, ...init }) => new FetchedAnswer(await send(url.href, init));
}

/** Adapts a Response to an answer of `request`. */
export class FetchedAnswer implements OutboundAnswer {
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(private readonly response: Response) {}

  get status(): number {
    return this.response.status;
  }

  getHeader(name: string): string | undefined {
    return this.response.headers.get(name) ?? undefined;
  }

  async readText(maxBytes: number): Promise<string> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of this.readPieces()) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw new OutboundTooLongError(maxBytes);
      pieces.push(piece);
    }
    return Buffer.concat(pieces, bytes).toString();
  }

  async *readPieces(): AsyncIterable<Uint8Array> {
    this.#reader = this.response.body?.getReader();
    try {
      for (let next = await this.#reader?.read(); next?.value; next = await this.#reader?.read()) yield next.value;
    } finally {
      this.discardBody();
    }
  }

  discardBody(): void {
    (this.#reader ?? this.response.body)?.cancel().catch(() => undefined);
  }
}
