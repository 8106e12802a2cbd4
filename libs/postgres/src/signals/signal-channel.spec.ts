import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../../test/support/any-character.js';
import { channelOf, payloadsOf, readPayload } from './channel-signals.js';

const TOPIC = { name: 'thing', shards: 16 };

describe('channelOf', () => {
  it('gives a key always the same one of the channels, whose names PostgreSQL takes unquoted', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER }), (key) => {
        const channel = channelOf(TOPIC, key);
        expect(channel).toMatch(/^parley_thing_(\d|1[0-5])$/);
        expect(channelOf({ ...TOPIC }, key)).toBe(channel);
      }),
    );
  });

  it('uses all of them, about evenly for ids that differ little', () => {
    const counts = new Map<string, number>();
    for (let id = 0; id < 1_600; id += 1) {
      const channel = channelOf(TOPIC, `task-${id}`);
      counts.set(channel, (counts.get(channel) ?? 0) + 1);
    }
    expect(counts.size).toBe(16);
    expect(Math.max(...counts.values())).toBeLessThan(200);
  });

  it('has one channel for a topic without shards', () => {
    expect(channelOf({ name: 'other', shards: 1 }, 'a')).toBe('parley_other');
  });
});

describe('payloads', () => {
  it('carry every key once and in order, in fewer than 8,000 bytes each, whatever the keys are made of', () => {
    const keys = fc.uniqueArray(fc.string({ unit: ANY_CHARACTER, maxLength: 300 }), { maxLength: 300 });
    fc.assert(
      fc.property(keys, (given) => {
        const payloads = payloadsOf('sender', given);
        for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8_000);
        expect(payloads.flatMap((payload) => readPayload(payload)?.keys)).toEqual(given);
        expect(payloads.every((payload) => readPayload(payload)?.sender === 'sender')).toBe(true);
      }),
    );
  });

  it('are as few as can be', () => {
    const ids = Array.from({ length: 600 }, () => 'x'.repeat(36));
    expect(payloadsOf('s'.repeat(36), ids)).toHaveLength(3);
    expect(payloadsOf('s', ['a'])).toEqual(['["s","a"]']);
    expect(payloadsOf('s', [])).toEqual([]);
  });

  it.each(['', 'a', '{}', '[1]', '["s",1]', '[]', 'null', undefined])('are not read from `%s`', (text) => {
    expect(readPayload(text)).toBeUndefined();
  });
});
