import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RequestSigners, SigningRequest } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/http-client';
import type { JsonObject } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import type { ModelProvider } from '../model-definition.js';
import type { ModelCall, ModelEvent, ModelMessage } from '../model.js';
import { CredentialSigner } from './model-signer.js';
import { ProviderModel } from './provider-model.js';

/** Recorded HTTP traffic of a provider: the first answer of a model, and the next request after its tool was called. */
interface Wire {
  provider: ModelProvider;
  path: string;
  /** Name of the header with the key. */
  header: string;
  answer: string;
  /** Body of an error response of the provider, with status 400. */
  error: JsonObject;
  /** Data that the next call must send back. */
  kept: JsonObject;
  /** Answer that reports 4 of its input tokens as written to the cache; absent: the provider reports none. */
  written?: string;
  /** Answers that are not whole: the provider's word for the reason, the body, and the message of the failure. */
  lacking: [word: string, body: string, said: string][];
}

const CUT = 'its answer was cut at its token limit';
const WITHHELD = 'its answer was withheld';
const IN_THE_MIDDLE = 'its answer ended in the middle';

const sse = (...events: JsonObject[]): string =>
  events
    .map((it) => `${typeof it.type === 'string' ? `event: ${it.type}\n` : ''}data: ${JSON.stringify(it)}\n\n`)
    .join('');

const block = (index: number, content: JsonObject, ...deltas: JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block: content },
  ...deltas.map((delta): JsonObject => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];

const anthropicAnswer = (reason: string, usage: JsonObject = { input_tokens: 9 }): string =>
  sse(
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 1 },
      },
    },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'a tool' },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ),
    ...block(
      1,
      { type: 'text', text: '' },
      { type: 'text_delta', text: 'Let me ' },
      { type: 'text_delta', text: 'look.' },
    ),
    ...block(
      2,
      { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
      { type: 'input_json_delta', partial_json: '{"at":' },
      { type: 'input_json_delta', partial_json: '"home"}' },
    ),
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 20 } },
    { type: 'message_stop' },
  );

const ANTHROPIC: Wire = {
  provider: 'anthropic',
  path: '/messages',
  header: 'x-api-key',
  answer: anthropicAnswer('tool_use'),
  written: anthropicAnswer('tool_use', {
    input_tokens: 3,
    cache_creation_input_tokens: 4,
    cache_read_input_tokens: 2,
    cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 0 },
  }),
  error: { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: too many' } },
  kept: { type: 'thinking', thinking: 'a tool', signature: 'c2lnbmVk' },
  lacking: (
    [
      ['max_tokens', CUT],
      ['model_context_window_exceeded', CUT],
      ['refusal', WITHHELD],
      ['pause_turn', IN_THE_MIDDLE],
      ['a word that nobody knows yet', IN_THE_MIDDLE],
    ] as const
  ).map(([word, said]) => [word, anthropicAnswer(word), said]),
};

const candidate = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 20, totalTokenCount: 29 },
});

const googleAnswer = (finishReason: string): string =>
  sse(
    candidate([{ text: 'Let me ' }]),
    candidate([{ text: 'look.' }]),
    candidate([{ functionCall: { name: 'look', args: { at: 'home' } }, thoughtSignature: 'c2lnbmVk' }], {
      finishReason,
    }),
  );

const GOOGLE: Wire = {
  provider: 'google',
  path: '/models/m:streamGenerateContent?alt=sse',
  header: 'x-goog-api-key',
  answer: googleAnswer('STOP'),
  error: { error: { code: 400, message: 'max_tokens: too many', status: 'INVALID_ARGUMENT' } },
  kept: { thoughtSignature: 'c2lnbmVk' },
  lacking: [
    ['MAX_TOKENS', googleAnswer('MAX_TOKENS'), CUT],
    ['SAFETY', googleAnswer('SAFETY'), WITHHELD],
    ['MALFORMED_FUNCTION_CALL', googleAnswer('MALFORMED_FUNCTION_CALL'), IN_THE_MIDDLE],
    ['OTHER', googleAnswer('OTHER'), IN_THE_MIDDLE],
    [
      'blockReason',
      sse({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 } }),
      WITHHELD,
    ],
  ],
};

const item = (fields: JsonObject): JsonObject => ({ output_index: 0, ...fields });

const openAiAnswer = (incomplete?: string, details: JsonObject = { cached_tokens: 0 }): string =>
  sse(
    { type: 'response.created', response: { id: 'r', created_at: 1, model: 'm', service_tier: null } },
    item({ type: 'response.output_item.added', item: { type: 'message', id: 'msg_1', phase: null } }),
    item({ type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Let me ', logprobs: null }),
    item({ type: 'response.output_text.delta', item_id: 'msg_1', delta: 'look.', logprobs: null }),
    item({ type: 'response.output_item.done', item: { type: 'message', id: 'msg_1', phase: null } }),
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'look',
        arguments: '{"at":"home"}',
        status: 'completed',
      },
    },
    {
      type: incomplete === undefined ? 'response.completed' : 'response.incomplete',
      response: {
        incomplete_details: incomplete === undefined ? null : { reason: incomplete },
        usage: {
          input_tokens: 9,
          input_tokens_details: details,
          output_tokens: 20,
          output_tokens_details: { reasoning_tokens: 0 },
        },
        service_tier: null,
      },
    },
  );

const OPENAI: Wire = {
  provider: 'openai',
  path: '/responses',
  header: 'authorization',
  answer: openAiAnswer(),
  written: openAiAnswer(undefined, { cached_tokens: 2, cache_write_tokens: 4 }),
  error: { error: { message: 'max_tokens: too many', type: 'invalid_request_error', param: null, code: null } },
  kept: { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"at":"home"}' },
  lacking: [
    ['max_output_tokens', openAiAnswer('max_output_tokens'), CUT],
    ['content_filter', openAiAnswer('content_filter'), WITHHELD],
  ],
};

describe.each([ANTHROPIC, GOOGLE, OPENAI])('models of $provider', (wire) => {
  const calls: { path: string; headers: IncomingHttpHeaders; body: JsonObject }[] = [];
  const asked: SigningRequest[] = [];
  const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
  let answer: { status: number; type: string; body: string };
  let server: Server;
  let baseUrl: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
        calls.push({ path: request.url ?? '', headers: request.headers, body });
        response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  beforeEach(() => {
    calls.splice(0);
    answer = { status: 200, type: 'text/event-stream', body: wire.answer };
  });
  afterAll(async () => {
    await outbound.close();
    server.close().closeAllConnections();
  });

  const ask = (messages: ModelMessage[], more: Partial<ModelCall> = {}): Promise<ModelEvent[]> => {
    const signer = new CredentialSigner(
      signers(asked),
      { credential: 'mine', tenant: 't', agentUrl: baseUrl },
      wire.provider,
    );
    const ways = { http: outbound.fetch, files: outbound.fetch, signer };
    const model = new ProviderModel({
      ...ways,
      name: 'named',
      provider: wire.provider,
      model: 'm',
      baseUrl,
      input: ['image/*'],
    });
    const tools = [{ name: 'look', inputSchema: { type: 'object', properties: { at: { type: 'string' } } } }];
    return Array.fromAsync(model.streamAnswer({ messages, tools, signal: new AbortController().signal, ...more }));
  };
  const { written } = wire;
  if (written !== undefined)
    it('keeps the tokens that are written to the cache, as a kind of their own', async () => {
      answer = { ...answer, body: written };
      const end = (await ask([question])).at(-1);
      expect(end).toMatchObject({
        end: { usage: { inputTokens: 9, outputTokens: 20, cachedInputTokens: 2, cacheWriteInputTokens: 4 } },
      });
    });
  const question: ModelMessage = { role: 'user', parts: [{ text: 'where?' }] };

  it('asks with the temperature and the token limit of the call, and with neither where it sets none', async () => {
    await ask([question], { temperature: 0.2, maxTokens: 321 });
    expect(JSON.stringify(calls[0]?.body)).toMatch(/"temperature":0\.2\b/);
    expect(JSON.stringify(calls[0]?.body)).toMatch(/"max\w*":321\b/i);
    await ask([question]);
    expect(JSON.stringify(calls[1]?.body)).not.toContain('"temperature"');
    const limits = JSON.stringify(calls[1]?.body).match(/"max\w*":\d+/gi);
    // Anthropic requires a limit, so its package sends the highest limit of the model.
    expect(limits).toEqual(wire.provider === 'anthropic' ? ['"max_tokens":4096'] : null);
  });

  it('streams text, calls its tool, and gets back what it wants back', async () => {
    const events = await ask([question]);
    const end = events.at(-1);
    expect(events.slice(0, 2)).toEqual([{ text: 'Let me ' }, { text: 'look.' }]);
    const call = events[2];
    if (!call || !('toolCall' in call) || !end || !('end' in end)) throw new Error(JSON.stringify(events));
    expect(call.toolCall).toMatchObject({ name: 'look', args: { at: 'home' } });
    expect(end.end).toMatchObject({ reason: 'tool-calls', usage: { inputTokens: 9, outputTokens: 20 } });
    expect(calls[0]).toMatchObject({ path: `/v1${wire.path}`, headers: { [wire.header]: 'the-secret' } });
    const said: ModelMessage = {
      role: 'assistant',
      parts: [{ text: 'Let me look.' }],
      toolCalls: [call.toolCall],
      ...(end.end.kept !== undefined && { kept: JSON.parse(JSON.stringify(end.end.kept)) as JsonObject }),
    };
    const results = [{ id: call.toolCall.id, name: 'look', result: { found: true } }];
    await ask([question, said, { role: 'tool', results }]);
    expect(all(calls[1]!.body)).toContainEqual(expect.objectContaining(wire.kept));
    expect(JSON.stringify(calls[1]!.body)).toContain('found');
  });

  it('goes on without that where another provider had answered', async () => {
    const kept = { provider: 'another', content: [{ type: 'text', text: 'of another' }] };
    const toolCalls = [{ id: 'call_1', name: 'look', args: { at: 'sea' } }];
    const said: ModelMessage = { role: 'assistant', parts: [], toolCalls, kept };
    await ask([question, said, { role: 'tool', results: [{ id: 'call_1', name: 'look', error: 'lost' }] }]);
    expect(JSON.stringify(calls[0]!.body)).toMatch(/sea.*lost/);
    expect(JSON.stringify(calls[0]!.body)).not.toContain('of another');
  });

  it('says what the provider says is wrong, and when a stream was cut', async () => {
    answer = { status: 400, type: 'application/json', body: JSON.stringify(wire.error) };
    await expect(ask([question])).rejects.toMatchObject({
      message: 'model "named" gave no answer: HTTP 400: max_tokens: too many',
      status: 400,
      fallback: false,
    });
    const events = wire.answer.split('\n\n');
    answer = { status: 200, type: 'text/event-stream', body: `${events.slice(0, 2).join('\n\n')}\n\n` };
    await expect(ask([question])).rejects.toMatchObject({
      message: 'model "named" gave no answer: its answer ended in the middle',
      fallback: true,
    });
  });

  it.each(wire.lacking)('takes no answer for whole that ended with %s', async (_word, body, said) => {
    answer = { ...answer, body };
    await expect(ask([question])).rejects.toMatchObject({
      message: `model "named" gave no answer: ${said}`,
      // A withheld answer counts as a refusal, after which no other model is called.
      fallback: said !== WITHHELD,
    });
  });

  if (wire.provider === 'openai')
    it.each([
      ['before any output', [] as string[]],
      ['after some output', wire.answer.split('\n\n').slice(0, 4)],
    ])('fails in the words of the provider where a stream has an error %s', async (_, before) => {
      const error = { type: 'error', code: 'server_error', message: 'The server had an error', param: null };
      const events = [...before, `event: error\ndata: ${JSON.stringify({ ...error, sequence_number: 1, error })}`, ''];
      answer = { status: 200, type: 'text/event-stream', body: events.join('\n\n') };
      const failure = await ask([question]).catch((reason: unknown) => reason);
      expect(failure).toMatchObject({
        message: expect.stringContaining('The server had an error') as string,
        fallback: true,
      });
    });

  it('takes a picture, and nothing is kept at the provider', async () => {
    const raw = Buffer.from('bytes').toString('base64');
    await ask([{ role: 'user', parts: [{ text: 'what is it?' }, { raw, mediaType: 'image/png' }] }]);
    expect(JSON.stringify(calls[0]!.body)).toContain(raw);
    if (wire.provider === 'openai') expect(calls[0]!.body).toMatchObject({ store: false });
  });
});

/** Returns every object in a JSON value, at any depth. */
function all(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(all)];
}

/** Returns signers that send a key in the header which the provider expects. */
function signers(asked: SigningRequest[]): RequestSigners {
  return {
    createProof: async (wanted) => {
      asked.push(wanted);
      const scheme = wanted.security?.schemes.get('key');
      const header = scheme?.type === 'apiKey' ? scheme.name : 'authorization';
      return {
        origin: wanted.endpoint.origin,
        headers: { [header]: 'the-secret' },
        query: {},
        secrets: ['the-secret'],
      };
    },
    renewProof: async () => undefined,
    reachesOrigins: async () => true,
    reportRefusal: () => undefined,
  };
}
