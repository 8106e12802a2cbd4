import type { JsonObject, JsonValue } from '#libs/protocol';
import { callResult } from './mcp-tools.js';

const MAX = 256 * 1024;
const text = (it: string) => ({ type: 'text', text: it });
/** Result of a tool that returns a plain value. */
const wrapped = (result: JsonValue, content: JsonObject[]): JsonObject => ({ content, structuredContent: { result } });
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('what a tool answered', () => {
  test.each([
    ['one text', { content: [text('hello')] }, { result: 'hello' }],
    ['two texts', { content: [text('a'), text('b')] }, { result: 'a\nb' }],
    ['nothing', { content: [] }, { result: '' }],
    ['data beside its text', { content: [text('{"a":1}')], structuredContent: { a: 1 } }, { result: { a: 1 } }],
    ['a plain text that the SDK for Python has wrapped', wrapped('hello', [text('hello')]), { result: 'hello' }],
    ['a plain number that it has wrapped', wrapped(3, [text('3')]), { result: 3 }],
    [
      'a list that it has wrapped',
      wrapped(['a', { n: 1 }], [text('a'), text('{\n  "n": 1\n}')]),
      { result: ['a', { n: 1 }] },
    ],
    [
      'a wrapped value that fastmcp marks',
      { ...wrapped([], []), _meta: { fastmcp: { wrap_result: true } } },
      { result: [] },
    ],
    ['an object with a result', wrapped(3, [text('{"result":3}')]), { result: { result: 3 } }],
    ['an object with a result and no text', wrapped(3, []), { result: { result: 3 } }],
    [
      'an image',
      { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
      { result: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
    ],
    ['an error', { content: [text('no such file')], isError: true }, { error: 'no such file' }],
    ['an error without words', { content: [], isError: true }, { error: 'the tool failed and gave no reason' }],
    ['no content at all', {}, { result: '' }],
    [
      'nulls',
      { content: [{ ...text('hi'), annotations: null }], structuredContent: null, isError: null, _meta: null },
      { result: 'hi' },
    ],
    ['no content but null', { content: null }, { result: '' }],
    ['content that is no list', { content: 'x' }, { error: "the tool's result is refused: content must be a list" }],
    [
      'a video beside a text',
      { content: [text('a'), { type: 'video', url: 'x' }] },
      { result: 'a\n[video of 26 bytes left out]' },
    ],
    ['an image without data', { content: [{ type: 'image' }] }, { result: '[image of 16 bytes left out]' }],
    [
      'what is no block',
      { content: [null, 7] },
      { result: '[content of 4 bytes left out]\n[content of 1 bytes left out]' },
    ],
    ...[[], [text('')], [text(' \n')]].map((content): [string, JsonObject, object] => [
      `an error in data alone, beside ${JSON.stringify(content)}`,
      { content, isError: true, structuredContent: { error: { code: 'E42' } } },
      { error: '{"error":{"code":"E42"}}' },
    ]),
  ] as [string, JsonObject, object][])('%s', (_, answered, result) => {
    expect(callResult(answered)).toEqual(result);
  });

  test.each([
    ['a text', { content: [text('x'.repeat(10_000_000))] }],
    ['a text of quotes', { content: [text('"'.repeat(10_000_000))] }],
    ['a text of long characters', { content: [text('😀'.repeat(1_000_000))] }],
    ['data', { content: [], structuredContent: { rows: Array.from({ length: 100_000 }, () => 'row') } }],
    ['an image', { content: [text('look'), { type: 'image', data: 'A'.repeat(10_000_000), mimeType: 'image/png' }] }],
    [
      'many blocks',
      { content: Array.from({ length: 10_000 }, () => ({ type: 'resource_link', uri: 'x'.repeat(100) })) },
    ],
    ['an error', { content: [text('x'.repeat(10_000_000))], isError: true }],
  ])('%s that is too long is cut and says so', (_, answered) => {
    const { truncated, ...taken } = callResult(answered);
    expect(truncated).toBe(true);
    const [value] = Object.values(taken);
    expect(bytes(value)).toBeLessThanOrEqual(MAX + (Array.isArray(value) ? 0 : MAX));
  });

  test('a text is cut to as much as fits', () => {
    const cut = callResult({ content: [text('é'.repeat(MAX))] });
    expect(cut).toEqual({ result: 'é'.repeat(MAX / 2 - 1), truncated: true });
  });

  test('a number that is none, and what is nested too deep, is an error that names the member', () => {
    const infinite = JSON.parse('{"rows":[1,{"n":1e999}]}') as JsonObject;
    const deep = JSON.parse(`{"d":${'['.repeat(20_000)}${']'.repeat(20_000)}}`) as JsonObject;
    expect(callResult({ content: [], structuredContent: infinite })).toEqual({
      error: "the tool's result is refused: structuredContent.rows[1].n must be a finite number",
    });
    expect(callResult({ content: [{ type: 'resource', resource: {}, size: -Infinity }] })).toEqual({
      error: "the tool's result is refused: content[0].size must be a finite number",
    });
    expect(callResult({ content: [], structuredContent: deep })).toEqual({
      error: "the tool's result is refused: must not be nested deeper than 500 levels",
    });
  });

  test('no half of a character is left', () => {
    const { result } = callResult({ content: [text(`a${'😀'.repeat(MAX)}`)] }) as { result: string };
    expect(result.isWellFormed()).toBe(true);
  });

  test('a text beside an image is kept, the image left out', () => {
    const image = { type: 'image', data: 'A'.repeat(MAX), mimeType: 'image/png' };
    expect(callResult({ content: [text('look'), image, text('end')] })).toEqual({
      result: [text('look'), text(`[image of ${bytes(image)} bytes left out]`), text('end')],
      truncated: true,
    });
  });
});
