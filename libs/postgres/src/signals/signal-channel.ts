import type { SignalTopic } from './replica-signals.js';

/** Maximum bytes of a payload: PostgreSQL accepts fewer than 8,000. */
const MAX_BYTES = 7_900;

/** Returns the channel of a key: the same one of the topic's channels at every replica. */
export function channelOf(topic: SignalTopic, key: string): string {
  return topic.shards === 1 ? `parley_${topic.name}` : `parley_${topic.name}_${hashKey(key) % topic.shards}`;
}

/** Encodes the keys in as few payloads as possible; each names its sender, which ignores its own signals. */
export function payloadsOf(sender: string, keys: Iterable<string>): string[] {
  const head = JSON.stringify(sender);
  const payloads: string[] = [];
  let body = head;
  let bytes = Buffer.byteLength(head) + 2;
  for (const key of keys) {
    const json = `,${JSON.stringify(key)}`;
    const size = Buffer.byteLength(json);
    if (bytes + size > MAX_BYTES && body !== head) {
      payloads.push(`[${body}]`);
      body = head;
      bytes = Buffer.byteLength(head) + 2;
    }
    body += json;
    bytes += size;
  }
  if (body !== head) payloads.push(`[${body}]`);
  return payloads;
}

/** Parses a payload; returns `undefined` if it has another form. */
export function readPayload(payload: string | undefined): { sender: string; keys: string[] } | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload ?? '');
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || !parsed.every((entry) => typeof entry === 'string')) return undefined;
  const [sender, ...keys] = parsed as string[];
  return sender === undefined ? undefined : { sender, keys };
}

/** Computes FNV-1a, which spreads well and is cheap. */
function hashKey(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
