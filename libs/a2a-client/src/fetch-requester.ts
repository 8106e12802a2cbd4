import { type OutboundAnswer, type OutboundRequester, OutboundTooLongError } from '#libs/outbound';
import type { AgentFetch } from './agent-http.js';

/** The door's `request` where there is only a `fetch`. */
export function fetchRequester(send: AgentFetch): OutboundRequester {
  return async ({ url, ...init }) => new FetchedAnswer(await send(url.href, init));
}

class FetchedAnswer implements OutboundAnswer {
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
    if (this.response.body !== null) yield* this.response.body as AsyncIterable<Uint8Array>;
  }

  discard(): void {
    this.response.body?.cancel().catch(() => undefined);
  }
}
