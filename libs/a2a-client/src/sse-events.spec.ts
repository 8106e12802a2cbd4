import fc from 'fast-check';
import { type SseEvent, sseEvents } from './sse-events.js';

describe('sseEvents', () => {
  const stream = [
    '\uFEFF: a comment',
    'id: 1',
    'data: {"text":"grüße ✓ 🎉"}',
    '',
    'event: error',
    'data:first',
    'data: second',
    'data',
    '',
    ':',
    '',
    'data:',
    '',
    'retry: 5',
    'data:  two spaces',
    '',
  ];
  const expected: SseEvent[] = [
    { type: 'message', data: '{"text":"grüße ✓ 🎉"}' },
    { type: 'error', data: 'first\nsecond\n' },
    { type: 'message', data: ' two spaces' },
  ];

  it.each(['\n', '\r\n', '\r'])('reads lines that end with %j, cut at any byte', async (lineEnd) => {
    const bytes = Buffer.from(`${stream.join(lineEnd)}${lineEnd}`);
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(await read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected);
    expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(expected);
  });

  it('reads mixed line ends in pieces of any size', async () => {
    const ends = fc.array(fc.constantFrom('\n', '\r\n', '\r'), { minLength: stream.length, maxLength: stream.length });
    await fc.assert(
      fc.asyncProperty(ends, fc.integer({ min: 1, max: 40 }), async (lineEnds, size) => {
        const bytes = Buffer.from(stream.map((line, index) => `${line}${lineEnds[index]}`).join(''));
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
        // CR and LF of two line ends in a row are one line end: such streams say something else.
        fc.pre(
          lineEnds.every((end, index) => end !== '\r' || lineEnds[index + 1] !== '\n' || stream[index + 1] !== ''),
        );
        expect(await read(pieces)).toEqual(expected);
      }),
    );
  });

  it('gives an event that ends with the body', async () => {
    expect(await read([Buffer.from('data: a\n\ndata: b')])).toEqual([
      { type: 'message', data: 'a' },
      { type: 'message', data: 'b' },
    ]);
  });

  it('gives each event as soon as its blank line is there', async () => {
    const given: string[] = [];
    async function* pieces(): AsyncIterable<Uint8Array> {
      yield Buffer.from('data: a\n\nda');
      given.push('second piece asked for');
      yield Buffer.from('ta: b\n\n');
    }
    for await (const { data } of sseEvents(pieces(), 100)) given.push(data);
    expect(given).toEqual(['a', 'second piece asked for', 'b']);
  });

  it.each([
    ['one line', 'data: ' + 'x'.repeat(101)],
    ['a line without an end', 'x'.repeat(101)],
    ['many lines', 'data: 123456789\n'.repeat(11)],
    ['many empty lines', 'data:\n'.repeat(101)],
  ])('refuses an event that is too long: %s', async (_what, text) => {
    await expect(read([Buffer.from(text)], 100)).rejects.toMatchObject({ kind: 'invalid-response' });
    expect(await read([Buffer.from('data: 1234\n\n'.repeat(50))], 100)).toHaveLength(50);
  });
});

async function read(bytes: Uint8Array[], maxLength = 1_000): Promise<SseEvent[]> {
  async function* pieces(): AsyncIterable<Uint8Array> {
    yield* bytes;
  }
  const events: SseEvent[] = [];
  for await (const event of sseEvents(pieces(), maxLength)) events.push(event);
  return events;
}
