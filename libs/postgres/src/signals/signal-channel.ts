import type { SignalTopic } from './replica-signals.js';

/** PostgreSQL takes payloads of fewer than 8,000 bytes. */
const MAX_BYTES = 7_900;

/** The channel of a key: one of the topic's, always the same one, at every replica. */
export function channelOf(topic: SignalTopic, key: string): string {
  return topic.shards === 1 ? `parley_${topic.name}` : `parley_${topic.name}_${hash(key) % topic.shards}`;
}

/** The keys as payloads, as few as can be; each names its sender, who is not interested in it. */
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

/** What a payload says; `undefined` where it is not one of ours. */
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

/** FNV-1a: spreads well and costs little. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
