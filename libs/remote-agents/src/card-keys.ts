import { hasMoreMembers } from '#libs/http';
import type { OutboundFetch, OutboundHttp } from '#libs/outbound';
import { createRemoteJWKSet, customFetch, type FlattenedVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';

/** Whose word it is that a key is good: the card's own server's, or this service's operator's. */
export type KeyTrust = 'origin' | 'operator';

/** Where a key may be found that a signature names. */
export interface KeySource {
  url: string;
  trust: KeyTrust;
  key: FlattenedVerifyGetKey;
}

/** After so long without an answer a set of keys cannot be had. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_MEMBERS = 2_000;
/** Bytes in memory of all sets that cards named, about, and of one for each byte of its text. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;
const HEAP_PER_BYTE = 4;
/** Bytes of a source before its set was fetched. */
const SOURCE_BYTES = 4 * 1024;

/**
 * The keys that cards may be signed with: those of the JWK Sets that the operator named, for any card, and those of the
 * set that a card names, if it lies at the card's own origin. No other URL of a card is ever followed, and no redirect.
 * Sets are kept for ten minutes, and asked for again where a signature names a key that is not in them. Those that cards
 * named are kept within one sum of bytes.
 */
export class CardKeys {
  private readonly trusted: readonly KeySource[];
  private readonly named = new LRUCache<string, { source: KeySource }>({ max: 1_000, maxSize: MOST_KEPT_BYTES });
  private readonly fetch: OutboundFetch;

  constructor(http: Pick<OutboundHttp, 'fetch' | 'trusting'>, trustedUrls: readonly string[]) {
    this.fetch = http.fetch;
    // The operator named them: they may be in a private network.
    this.trusted = trustedUrls.map((url) => ({
      url,
      trust: 'operator',
      key: keySet(url, http.trusting(url), () => undefined),
    }));
  }

  /**
   * @param jku the set that the signature's protected header names
   * @param cardUrl where the card was read
   */
  sources(jku: string | undefined, cardUrl: string): readonly KeySource[] {
    if (jku === undefined || !isAtOrigin(jku, cardUrl)) return this.trusted;
    if (this.trusted.some(({ url }) => url === jku)) return this.trusted;
    return [...this.trusted, this.ofCard(jku)];
  }

  private ofCard(url: string): KeySource {
    const kept = this.named.get(url);
    if (kept) return kept.source;
    const source: KeySource = { url, trust: 'origin', key: keySet(url, this.fetch, (bytes) => weigh(bytes)) };
    let largest = 0;
    const weigh = (bytes: number): void => {
      // An answer that is no set leaves the set before it in memory.
      largest = Math.max(largest, bytes);
      if (this.named.peek(url)?.source !== source) return;
      this.named.set(url, { source }, { size: SOURCE_BYTES + largest * HEAP_PER_BYTE });
    };
    this.named.set(url, { source }, { size: SOURCE_BYTES });
    return source;
  }
}

function isAtOrigin(jku: string, cardUrl: string): boolean {
  if (!URL.canParse(jku)) return false;
  const { origin, protocol } = new URL(jku);
  return /^https?:$/.test(protocol) && origin === new URL(cardUrl).origin;
}

/** @param onRead called with the bytes of a set that was fetched */
function keySet(url: string, fetch: OutboundFetch, onRead: (bytes: number) => void): FlattenedVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    [customFetch]: bounded(fetch, onRead) as typeof globalThis.fetch,
    timeoutDuration: TIMEOUT_MS,
  });
}

/** A set of keys is short; whoever sends more is not read to the end. */
function bounded(fetch: OutboundFetch, onRead: (bytes: number) => void): OutboundFetch {
  return async (input, init) => {
    const { status, body } = await fetch(input, init);
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += piece.byteLength;
      if (bytes > MAX_BYTES) throw new Error(`A set of keys is longer than ${MAX_BYTES} bytes`);
      pieces.push(piece);
    }
    const text = Buffer.concat(pieces).toString();
    if (hasMoreMembers(text, MAX_MEMBERS)) throw new Error(`A set of keys has more than ${MAX_MEMBERS} members`);
    onRead(bytes);
    return new Response(status === 200 ? text : null, { status });
  };
}
