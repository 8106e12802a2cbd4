import { hasMoreMembers } from '#libs/http';
import type { OutboundFetch, OutboundHttp } from '#libs/outbound';
import { createRemoteJWKSet, customFetch, type FlattenedVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';

/** Source of trust in a key: the card's own server, or this service's operator. */
export type KeyTrust = 'origin' | 'operator';

/** Source of the key that a signature names. */
export interface KeySource {
  url: string;
  trust: KeyTrust;
  key: FlattenedVerifyGetKey;
}

/** Limit in milliseconds for fetching a set of keys. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_MEMBERS = 2_000;
/** Maximum number of bytes in memory of all sets named by cards, and estimated bytes of memory per byte of text. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;
const HEAP_PER_BYTE = 4;
/** Bytes of a source before its set is fetched. */
const SOURCE_BYTES = 4 * 1024;

/**
 * Keys that may sign cards.
 *
 * - The JWK Sets that the operator named are trusted for any card.
 * - The set that a card names is used only at the card's own origin. No other URL of a card, and no redirect, is
 *   followed.
 * - Sets are kept for ten minutes, and fetched again if a signature names an unknown key.
 * - Sets named by cards are kept within a total of bytes.
 */
export class CardKeys {
  private readonly trusted: readonly KeySource[];
  private readonly named = new LRUCache<string, { source: KeySource }>({ max: 1_000, maxSize: MOST_KEPT_BYTES });
  private readonly fetch: OutboundFetch;

  constructor(http: Pick<OutboundHttp, 'fetch' | 'trustingFetch'>, trustedUrls: readonly string[]) {
    this.fetch = http.fetch;
    // Sets named by the operator may be in a private network.
    this.trusted = trustedUrls.map((url) => ({
      url,
      trust: 'operator',
      key: keySet(url, http.trustingFetch(url), () => undefined),
    }));
  }

  /**
   * Returns the sources of keys for a signature.
   * @param jku URL of the set that the signature's protected header names
   * @param cardUrl URL that the card was read from
   */
  findSources(jku: string | undefined, cardUrl: string): readonly KeySource[] {
    if (jku === undefined || !isAtOrigin(jku, cardUrl)) return this.trusted;
    if (this.trusted.some(({ url }) => url === jku)) return this.trusted;
    return [...this.trusted, this.ofCard(jku)];
  }

  private ofCard(url: string): KeySource {
    const kept = this.named.get(url);
    if (kept) return kept.source;
    const source: KeySource = { url, trust: 'origin', key: keySet(url, this.fetch, (bytes) => setWeight(bytes)) };
    let largest = 0;
    const setWeight = (bytes: number): void => {
      // An invalid answer leaves the previous set in memory.
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

/** Creates the key resolver of a JWK Set. @param onRead called with the size in bytes of a fetched set */
function keySet(url: string, fetch: OutboundFetch, onRead: (bytes: number) => void): FlattenedVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    [customFetch]: boundedFetch(fetch, onRead) as typeof globalThis.fetch,
    timeoutDuration: TIMEOUT_MS,
  });
}

/** Limits the size of a set of keys; a longer answer is not read to its end. */
function boundedFetch(fetch: OutboundFetch, onRead: (bytes: number) => void): OutboundFetch {
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
