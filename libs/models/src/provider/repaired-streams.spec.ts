import { OutboundHttp } from '#libs/http-client';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import type { ModelEvent } from '../model.js';
import { KeySigner } from './model-signer.js';
import { ProviderModel } from './provider-model.js';

const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
afterAll(() => outbound.close());

/** Reads the events that an OpenAI-compatible endpoint sends with this body. */
function read(body: string, type = 'text/event-stream'): Promise<ModelEvent[]> {
  const http = async (): Promise<Response> => new Response(body, { headers: { 'content-type': type } });
  const options = { name: 'm', provider: 'openai-compatible', model: 'm', baseUrl: 'http://127.0.0.1:1/v1' } as const;
  const model = new ProviderModel({ ...options, input: [], signer: new KeySigner('k'), http, files: outbound.fetch });
  const messages = [{ role: 'user' as const, parts: [{ text: 'hi' }] }];
  return Array.fromAsync(model.streamAnswer({ messages, signal: new AbortController().signal }));
}

const DONE = 'data: [DONE]\n\n';
const event = (value: JsonValue): string => `data: ${JSON.stringify(value)}\n\n`;
const say = (delta: JsonObject, reason: string | null = null): string =>
  event({ choices: [{ index: 0, delta, finish_reason: reason }] });
const text = (content: string): string => say({ content });
const piece = (index: number, id: string | undefined, name: string, args: JsonValue): string =>
  say({ tool_calls: [{ index, ...(id !== undefined && { id }), function: { name, arguments: args } }] });
const end = say({}, 'tool_calls') + DONE;
const callsOf = (events: ModelEvent[]): unknown[] =>
  events.flatMap((it) => ('toolCall' in it ? [[it.toolCall.name, it.toolCall.args]] : []));

describe('a call of a tool that an endpoint repeats', () => {
  const call = piece(0, 'c1', 'add', '{"a":1}');
  const other = piece(1, 'c2', 'say', '{"b":2}');
  const inPieces =
    piece(0, 'c1', 'add', '') +
    say({ tool_calls: [{ index: 0, function: { arguments: '{"a"' } }] }) +
    say({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] });

  it.each([
    ['at once', call + call],
    ['for the third time', call + call + call],
    ['after another call', call + other + call],
    ['after another call at its index', call + piece(0, 'c3', 'say', '{"b":2}') + call],
    ['after it came in pieces', inPieces + call],
    [
      'within one piece',
      say({ tool_calls: [1, 2].map(() => ({ index: 0, id: 'c1', function: { name: 'add', arguments: '{"a":1}' } })) }),
    ],
  ])('%s is one call', async (_, stream) => {
    const called = callsOf(await read(stream + end));
    expect(called.filter((it) => JSON.stringify(it) === '["add",{"a":1}]')).toHaveLength(1);
    expect(called.length).toBe(stream.includes('say') ? 2 : 1);
  });

  it.each([
    ['the same arguments with different ids', call + piece(1, 'c2', 'add', '{"a":1}')],
    ['different arguments with one index and one id', call + piece(0, 'c1', 'add', '{"a":2}')],
    ['no ids at all', piece(0, undefined, 'add', '{"a":1}') + piece(1, undefined, 'add', '{"a":1}')],
    ['one index and no ids', piece(0, undefined, 'add', '{"a":1}') + piece(0, undefined, 'add', '{"a":1}')],
    ['other names', call + piece(0, 'c1', 'sum', '{"a":1}')],
  ])('in nothing but its form stays two calls: %s', async (_, stream) => {
    expect(callsOf(await read(stream + end))).toHaveLength(2);
  });

  it('in an answer that is no stream stays two calls, and one whose arguments are an object is understood', async () => {
    const calls = ['x', 'y'].map((id) => ({ id, type: 'function', function: { name: 'add', arguments: { a: 1 } } }));
    const choice = { index: 0, finish_reason: 'tool_calls', message: { role: 'assistant', tool_calls: calls } };
    const body = JSON.stringify({ choices: [choice] });
    expect(callsOf(await read(body, 'application/json'))).toEqual([
      ['add', { a: 1 }],
      ['add', { a: 1 }],
    ]);
  });

  it.each<[JsonValue]>([[[1]], [7]])('whose arguments are %j is not understood', async (args) => {
    const calls = [{ id: 'x', type: 'function', function: { name: 'add', arguments: args } }];
    const body = JSON.stringify({
      choices: [{ index: 0, finish_reason: 'tool_calls', message: { tool_calls: calls } }],
    });
    await expect(read(body, 'application/json')).rejects.toThrow('its answer cannot be understood');
    await expect(read(piece(0, 'x', 'add', args) + end)).rejects.toThrow('its answer cannot be understood');
  });

  it('takes time that grows with its length alone', async () => {
    const pieces = Array.from({ length: 20_000 }, (_, it) => piece(0, 'c1', 'add', it === 0 ? '{"a":"' : '}}}}'));
    expect(callsOf(await read(`${pieces.join('')}${piece(0, 'c1', 'add', '"}')}${end}`))).toHaveLength(1);
  });
});

describe('a whole answer that an endpoint ends in its own way', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  const whole = text('hello') + say({}, 'stop');

  it.each([
    ['with [DONE] and no reason', text('hello') + DONE, 'other'],
    ['with a usage piece without choices', whole + event({ usage }) + DONE, 'stop'],
    ['with a usage piece whose choices are null', whole + event({ usage, choices: null }) + DONE, 'stop'],
    ['with lines that end with CR', (whole + DONE).replaceAll('\n', '\r'), 'stop'],
    ['with lines that end with CRLF', (whole + DONE).replaceAll('\n', '\r\n'), 'stop'],
    ['without the last line end', (text('hello') + say({}, 'stop')).trim(), 'stop'],
    ['with lines that end with CR, and no reason', (text('hello') + DONE).replaceAll('\n', '\r'), 'other'],
  ])('%s is read', async (_, stream, reason) => {
    const note = reason === 'other' && { note: 'its answer ended with [DONE] and without a finish_reason' };
    const used = stream.includes('prompt_tokens') && { usage: { inputTokens: 3, outputTokens: 4 } };
    expect(await read(stream)).toEqual([{ text: 'hello' }, { end: { reason, ...used, ...note } }]);
  });

  it.each([
    ['a text without [DONE]', text('hello'), 'its answer ended in the middle'],
    ['nothing but [DONE]', DONE, 'its answer ended in the middle'],
    [
      'a call of a tool without a reason',
      text('x') + piece(0, 'c1', 'add', '{"a":1}') + DONE,
      'its answer ended in the middle',
    ],
    ['a call that is cut', piece(0, 'c1', 'add', '{"a":') + DONE, 'its answer ended in the middle'],
    [
      'an error after a text',
      text('x') + event({ error: { message: 'overloaded' } }) + DONE,
      'it broke off: overloaded',
    ],
    [
      'what is no piece, and a good end after it',
      text('x') + event({ strange: true }) + say({}, 'stop') + DONE,
      'its answer cannot be understood: it is an object with the members strange',
    ],
    [
      'what is no JSON, and a good end after it',
      `${text('x')}data: {\n\n${say({}, 'stop')}${DONE}`,
      'its answer cannot be understood: it is not JSON',
    ],
    ['what is no piece', text('x') + event({ strange: true }) + DONE, 'its answer cannot be understood'],
  ])('is not %s', async (_, stream, said) => {
    await expect(read(stream)).rejects.toThrow(`model "m" gave no answer: ${said}`);
  });
});
