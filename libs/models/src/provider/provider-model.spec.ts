import type { OutboundFetch } from '#libs/http-client';
import type { JsonObject } from '#libs/protocol';
import { ReceivedAnswers } from '#libs/service';
import { type FakeAnswer, FakeLlm } from '../../../../test/support/fake-llm.js';
import { type ModelCall, ModelError, type ModelEvent } from '../model.js';
import { KEY, TriedModel } from '../testing/tried-model.js';
import { KeySigner } from './model-signer.js';

describe('a model of an OpenAI-compatible endpoint', () => {
  const tried = new TriedModel();
  const { outbound, model, asked, sent } = tried;

  it('streams its text as it comes, then why it ended and what it used', async () => {
    const rest = Promise.withResolvers<void>();
    tried.llm.answer = () => ({ text: ['bon', 'jour'], ends: rest.promise, usage: { input: 7, output: 2 } });
    const events: ModelEvent[] = [];
    for await (const event of model().streamAnswer(asked())) {
      events.push(event);
      // The model sends the end only after both pieces have arrived.
      if (events.length === 2) rest.resolve();
    }
    expect(events).toEqual([
      { text: 'bon' },
      { text: 'jour' },
      { end: { reason: 'stop', usage: { inputTokens: 7, outputTokens: 2 } } },
    ]);
  });

  it('has one room for large answers with all other models, and may be called again where it found none', async () => {
    const room = new ReceivedAnswers({ bytes: 1, waitMs: 1 });
    tried.llm.answer = () => 'x'.repeat(100_000);
    await expect(all(model({ room }).streamAnswer(asked()))).resolves.toHaveLength(2);
    const other = room.openPlace({ tenant: '', owner: '' });
    await other.countRead(100_000);
    await expect(all(model({ room }).streamAnswer(asked()))).rejects.toMatchObject({
      message: 'model "small" gave no answer: too many large answers are being read at the same time',
      outage: 'overloaded',
      fallback: true,
    });
    other[Symbol.dispose]();
    await expect(all(model({ room }).streamAnswer(asked()))).resolves.toHaveLength(2);
  });

  it('gives its room to others that wait where the model does not go on', async () => {
    const room = new ReceivedAnswers({ bytes: 1, silentMs: 1 });
    tried.llm.answer = () => ({ text: 'x'.repeat(100_000), ends: new Promise(() => undefined) });
    let waiting: Promise<void> | undefined;
    const read = async (): Promise<void> => {
      for await (const _event of model({ room }).streamAnswer(asked()))
        waiting ??= room.openPlace({ tenant: 'b', owner: 'other' }).countRead(100_000);
    };
    await expect(read()).rejects.toMatchObject({
      message: 'model "small" gave no answer: the answer came too slowly while others waited for its room',
      outage: 'overloaded',
      fallback: true,
    });
    await waiting;
  });

  it('says who calls, and nothing of this machine; takes further headers', async () => {
    await all(
      model().streamAnswer(
        asked({
          headers: { traceparent: '00-a-b-01' },
          temperature: 0.5,
          topP: 0.9,
          stop: ['END'],
          maxTokens: 50,
        }),
      ),
    );
    const [{ path, headers, body }] = tried.llm.calls as [(typeof tried.llm.calls)[0]];
    expect(path).toBe('/v1/chat/completions');
    expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, traceparent: '00-a-b-01' });
    expect(JSON.stringify(headers)).not.toContain('ai-sdk');
    expect(body).toMatchObject({
      model: 'small',
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      max_tokens: 50,
      stream: true,
    });
  });

  it('sends neither a temperature nor a token limit where the call sets none', async () => {
    await all(model().streamAnswer(asked()));
    for (const member of ['temperature', 'top_p', 'stop', 'max_tokens', 'max_completion_tokens'])
      expect(sent()).not.toHaveProperty(member);
  });

  it('tells a whole conversation with its tools, and keeps no more than the loop gave it', async () => {
    const messages: ModelCall['messages'] = [
      { role: 'system', parts: [{ text: 'be brief' }] },
      { role: 'user', parts: [{ text: 'sum' }, { data: { a: 1 } }] },
      { role: 'assistant', parts: [], toolCalls: [{ id: 'c1', name: 'calc__add', args: { a: 1 } }] },
      { role: 'tool', results: [{ id: 'c1', name: 'calc__add', result: { sum: 3 } }] },
      { role: 'assistant', parts: [{ text: '3' }], toolCalls: [{ id: 'c2', name: 'calc__add', args: {} }] },
      { role: 'tool', results: [{ id: 'c2', name: 'calc__add', error: 'no number' }] },
    ];
    const inputSchema = { type: 'object', properties: { a: { type: 'number' } } };
    await all(
      model().streamAnswer(asked({ messages, tools: [{ name: 'calc__add', description: 'adds', inputSchema }] })),
    );
    expect(sent()['messages']).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: 'sum\n\n{"a":1}' },
      { role: 'assistant', content: '', tool_calls: [called('c1', '{"a":1}')] },
      { role: 'tool', tool_call_id: 'c1', content: '{"sum":3}' },
      { role: 'assistant', content: '3', tool_calls: [called('c2', '{}')] },
      { role: 'tool', tool_call_id: 'c2', content: 'no number' },
    ]);
    expect(sent()['tools']).toEqual([
      { type: 'function', function: { name: 'calc__add', description: 'adds', parameters: inputSchema } },
    ]);
  });

  it('gives calls of tools whole, several in one answer, and what was said instead of arguments', async () => {
    tried.llm.answer = () => ({
      text: 'let me see',
      toolCalls: [
        { id: 'a', name: 'x', args: { n: 1 } },
        { id: 'b', name: 'y', args: '{"broken' },
        { id: 'c', name: 'z', args: '' },
        { id: 'd', name: 'z', args: '{"n":1e999}' },
      ],
    });
    expect(await all(model().streamAnswer(asked()))).toEqual([
      { text: 'let me see' },
      { toolCall: { id: 'a', name: 'x', args: { n: 1 } } },
      { toolCall: { id: 'b', name: 'y', args: {}, malformed: '{"broken' } },
      { toolCall: { id: 'c', name: 'z', args: {} } },
      { toolCall: { id: 'd', name: 'z', args: {}, malformed: '{"n":1e999}' } },
      { end: expect.objectContaining({ reason: 'tool-calls' }) as object },
    ]);
  });

  it.each<[string, FakeAnswer, Partial<ModelError>, RegExp]>([
    [
      '429',
      { status: 429, error: 'slow down' },
      { status: 429, fallback: true, outage: 'rate-limited' },
      /HTTP 429: slow down$/,
    ],
    ['500', { status: 500, error: 'upset' }, { fallback: true, outage: 'server-error' }, /HTTP 500: upset$/],
    [
      '503 with a time',
      { status: 503, error: 'later', headers: { 'retry-after': '7' } },
      { status: 503, outage: 'server-error', retryAfter: 7_000 },
      /HTTP 503: later$/,
    ],
    [
      '400',
      { status: 400, error: 'context_length_exceeded' },
      { status: 400, fallback: true, outage: undefined },
      /HTTP 400: context_length/,
    ],
    [
      '400 of llama.cpp',
      { status: 400, error: 'the request exceeds the available context size. try increasing it' },
      { status: 400, fallback: true, outage: undefined },
      /available context size/,
    ],
    [
      'another 400',
      { status: 400, error: 'no such parameter' },
      { status: 400, fallback: false },
      /no such parameter$/,
    ],
    ['403', { status: 403, error: 'not for you' }, { status: 403, fallback: false }, /HTTP 403: not for you$/],
    [
      'a broken connection',
      { text: 'bon', cut: 'broken' },
      { fallback: true, outage: 'connect' },
      /gave no answer: the connection broke$/,
    ],
    [
      'an end too early',
      { text: 'bon', cut: 'short' },
      { fallback: true, outage: 'connect' },
      /its answer ended in the middle$/,
    ],
    [
      'a limit of tokens',
      { text: 'bon', reason: 'length' },
      { fallback: true, outage: undefined },
      /^model "small" gave no answer: its answer was cut at its token limit$/,
    ],
    [
      'a limit of tokens that the conversation fills',
      { text: 'bon', reason: 'length', usage: { input: 1_900, output: 148 } },
      { fallback: true, isTruncated: true },
      /was cut at its token limit, after 148 tokens: it was sent 1900 tokens$/,
    ],
    [
      'a filter',
      { text: 'bon', reason: 'content_filter' },
      { fallback: false, outage: undefined },
      /^model "small" gave no answer: its answer was withheld$/,
    ],
    ['an error in the middle', { text: 'bon', breaks: 'overloaded' }, { fallback: true }, /it broke off: overloaded$/],
    [
      'an error in the middle with its status as a text (LiteLLM)',
      { text: 'bon', breaks: 'slow down', breaksWith: '429' },
      { fallback: true, status: 429, outage: 'rate-limited' },
      /it broke off: slow down$/,
    ],
    [
      'an overflow of the context in the middle',
      { text: 'bon', breaks: 'the context size has been exceeded', breaksWith: 400 },
      { fallback: true, isOverflow: true, outage: undefined },
      /it broke off: the context size has been exceeded$/,
    ],
    [
      'an error in the middle with a word',
      { text: 'bon', breaks: 'no more', breaksWith: 'insufficient_quota' },
      { fallback: true, status: undefined, outage: undefined },
      /it broke off: no more$/,
    ],
  ])('%s: whether another model may answer', async (_, answer, expected, text) => {
    tried.llm.answer = () => answer;
    const failure = await failed(model().streamAnswer(asked()));
    expect(failure).toMatchObject(expected);
    expect(failure.message).toMatch(text);
    expect(tried.llm.calls).toHaveLength(1);
  });

  it('another model may answer where nobody listens, too', async () => {
    const closed = await FakeLlm.start();
    const { url } = closed;
    await closed.stop();
    const failure = await failed(model({ baseUrl: url }).streamAnswer(asked()));
    expect([failure.fallback, failure.outage, failure.status, failure.message]).toEqual([
      true,
      'connect',
      undefined,
      expect.stringMatching(/^model "small" gave no answer: /),
    ]);
  });

  it.each<[string, FakeAnswer, Parameters<OutboundFetch>[1]]>([
    ['before the first word', { begins: new Promise(() => undefined) }, { firstByteMs: 1_000 }],
    ['between two words', { text: 'bon', ends: new Promise(() => undefined) }, { idleMs: 1_000 }],
  ])('another model may answer where a time limit ends the wait %s', async (_, answer, limits) => {
    tried.llm.answer = () => answer;
    const http: OutboundFetch = (url, init) => outbound.fetch(url, { ...init, ...limits });
    const failure = await failed(model({ http }).streamAnswer(asked()));
    expect([failure.fallback, failure.outage, failure.status, failure.message]).toEqual([
      true,
      'timeout',
      undefined,
      'model "small" gave no answer: it took too long',
    ]);
    expect(tried.llm.calls).toHaveLength(1);
  });

  it('says of a refused key that it was refused, and nothing of the key', async () => {
    const error = `Incorrect API key provided: sk-ab***xy (${KEY}). See https://provider.example/account/api-keys`;
    tried.llm.answer = () => ({ status: 401, error });
    const { message, fallback } = await failed(model().streamAnswer(asked()));
    expect(message).toMatch(
      /^model "small" gave no answer: the provider refused the key \(HTTP 401\): Incorrect API key/,
    );
    expect(message).not.toMatch(/sk-a|provider\.example/);
    expect(fallback).toBe(false);
  });

  it('says an error whole where the key is a few letters', async () => {
    tried.llm.answer = () => ({ status: 400, error: 'unexpected x in the next text' });
    const signer = new KeySigner('x');
    const { message } = await failed(model({ signer }).streamAnswer(asked()));
    expect(message).toMatch(/: unexpected x in the next text$/);
  });

  it('asks for JSON by its schema, and by words alone where the endpoint knows no schemas', async () => {
    const output = { type: 'object', properties: { n: { type: 'integer' } } };
    tried.llm.answer = ({ response_format: format }) =>
      format === undefined ? '{"n":1}' : { status: 400, error: "unknown parameter 'response_format'" };
    expect(await all(model().streamAnswer(asked({ output })))).toMatchObject([{ text: '{"n":1}' }, { end: {} }]);
    expect(tried.llm.calls.map(({ body }) => body['response_format'])).toEqual([
      { type: 'json_schema', json_schema: { schema: output, strict: false, name: 'answer' } },
      undefined,
    ]);
    expect(JSON.stringify(sent()['messages'])).toContain(JSON.stringify(JSON.stringify(output)).slice(1, -1));
    const tools = [{ name: 't', inputSchema: { type: 'object' } }];
    await all(model().streamAnswer(asked({ output, tools })));
    expect(tried.llm.calls).toHaveLength(3);
    expect(sent()).not.toHaveProperty('response_format');
    tried.llm.answer = () => '{"n":1}';
    await all(model().streamAnswer(asked({ output, tools, isAnswerOnly: true })));
    expect(sent()).toMatchObject({ tools: [{}], tool_choice: 'none', response_format: { type: 'json_schema' } });
  });

  it.each([
    [400, 'json mode cannot be combined with tool/function calling'],
    [422, 'unprocessable request'],
    [501, 'not implemented'],
  ])(
    'repeats the last call of a loop by words where its tools exclude a schema: HTTP %d: %s',
    async (status, error) => {
      tried.llm.answer = ({ response_format: format }) => (format === undefined ? '{"n":1}' : { status, error });
      const tools = [{ name: 't', inputSchema: { type: 'object' } }];
      const call = asked({ output: { type: 'object' }, tools, isAnswerOnly: true });
      expect(await all(model().streamAnswer(call))).toMatchObject([{ text: '{"n":1}' }, { end: {} }]);
      expect(sent()).toMatchObject({ tools: [{}], tool_choice: 'none' });
      tried.llm.answer = () => ({ status, error });
      expect(await failed(model().streamAnswer(call))).toMatchObject({ status });
      expect(tried.llm.calls.map(({ body }) => 'response_format' in body)).toEqual([true, false, true, false]);
    },
  );

  it.each([
    [500, "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type')}]"],
    [400, 'failed to parse grammar'],
    [400, 'JSON schema conversion failed: unsupported pattern'],
    [400, 'JSON mode is not supported for this model'],
    [422, 'structured outputs are not available'],
  ])('asks for JSON by words where the endpoint refuses a schema with HTTP %d: %s', async (status, error) => {
    tried.llm.answer = ({ response_format: format }) => (format === undefined ? '{"n":1}' : { status, error });
    const answer = await all(model().streamAnswer(asked({ output: { type: 'object' } })));
    expect(answer).toMatchObject([{ text: '{"n":1}' }, { end: {} }]);
    expect(tried.llm.calls).toHaveLength(2);
  });

  it('adds no words about a schema that the messages describe', async () => {
    await all(model().streamAnswer(asked({ output: { type: 'object' }, isOutputDescribed: true })));
    expect(sent()).toMatchObject({ response_format: { type: 'json_schema' }, messages: [{ content: 'hello' }] });
    expect(JSON.stringify(sent()['messages'])).not.toContain('JSON Schema');
  });

  it('takes an answer for whole that ended with a word of the endpoint', async () => {
    tried.llm.answer = () => ({ text: 'bonjour', reason: 'eos' });
    expect(await all(model().streamAnswer(asked()))).toMatchObject([{ text: 'bonjour' }, { end: { reason: 'other' } }]);
  });

  it('reads an endpoint that does not stream', async () => {
    const whole: OutboundFetch = async (url, init) => {
      const body = { ...(JSON.parse(init?.body as string) as JsonObject), stream: false };
      return outbound.fetch(url, { ...init, body: JSON.stringify(body) });
    };
    tried.llm.answer = () => ({ text: 'hi', toolCalls: [{ id: 'a', name: 'x', args: { n: 1 } }] });
    expect(await all(model({ http: whole }).streamAnswer(asked()))).toEqual([
      { text: 'hi' },
      { toolCall: { id: 'a', name: 'x', args: { n: 1 } } },
      { end: { reason: 'tool-calls', usage: { inputTokens: 1, outputTokens: 2 } } },
    ]);
  });

  it.each([200, 400])('reads no more of an answer without an end than it takes (%s)', async (status) => {
    const piece = new Uint8Array(1024 * 1024).fill(0x20);
    let pieces = 0;
    let canceled = false;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => {
        if (++pieces > 100) throw new Error('too much was read');
        controller.enqueue(piece);
      },
      cancel: () => void (canceled = true),
    });
    const headers = { 'content-type': 'application/json' };
    const { message } = await failed(
      model({ http: async () => new Response(body, { status, headers }) }).streamAnswer(asked()),
    );
    expect(message).toMatch(status === 200 ? /the answer is longer than 16777216 bytes$/ : /HTTP 400$/);
    expect(pieces).toBeLessThan(30);
    expect(canceled).toBe(true);
  });

  it('ends the call with the signal, and when nobody reads on', async () => {
    const reason = new Error('canceled');
    await expect(all(model().streamAnswer(asked({ signal: AbortSignal.abort(reason) })))).rejects.toBe(reason);
    const ends = new Promise<void>(() => undefined);
    tried.llm.answer = () => ({ text: 'bon', ends });
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      for await (const event of model().streamAnswer(asked({ signal: stop.signal })))
        if ('text' in event) stop.abort(reason);
    };
    await expect(read()).rejects.toBe(reason);
    for await (const event of model().streamAnswer(asked())) if ('text' in event) break;
  });
});

function called(id: string, args: string): JsonObject {
  return { id, type: 'function', function: { name: 'calc__add', arguments: args } };
}

async function all(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  return Array.fromAsync(stream);
}

async function failed(stream: AsyncIterable<ModelEvent>): Promise<ModelError> {
  const error: unknown = await all(stream).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ModelError)) throw new Error('it did not fail with a ModelError', { cause: error });
  return error;
}
