import { OutboundHttp } from '#libs/http-client';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { type ModelError, type ModelEvent } from '../model.js';
import { KeySigner } from './model-signer.js';
import { ProviderModel } from './provider-model.js';

/** Answer of an endpoint, byte for byte. */
interface Wire {
  status?: number;
  type?: string;
  headers?: Record<string, string>;
  body: string;
}

const outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
afterAll(() => outbound.close());

function read({ status = 200, type = 'text/event-stream', headers = {}, body }: Wire): Promise<ModelEvent[]> {
  const http = async (): Promise<Response> =>
    new Response(body, { status, headers: { 'content-type': type, ...headers } });
  const options = { name: 'm', provider: 'openai-compatible', model: 'm', baseUrl: 'http://127.0.0.1:1/v1' } as const;
  const model = new ProviderModel({ ...options, input: [], signer: new KeySigner('k'), http, files: outbound.fetch });
  const messages = [{ role: 'user' as const, parts: [{ text: 'hi' }] }];
  return Array.fromAsync(model.streamAnswer({ messages, signal: new AbortController().signal }));
}

/** Returns the failure of a call, without its cause. */
async function failureOf(wire: Wire): Promise<Partial<ModelError>> {
  try {
    return { message: `no failure, but ${JSON.stringify(await read(wire))}` };
  } catch (error) {
    const { message, status, fallback, outage, retryAfter, isOverflow } = error as ModelError;
    return {
      message: message.replace('model "m" gave no answer: ', ''),
      status,
      fallback,
      outage,
      retryAfter,
      isOverflow,
    };
  }
}

const textOf = (events: ModelEvent[]): string => events.map((it) => ('text' in it ? it.text : '')).join('');
const callsOf = (events: ModelEvent[]): JsonValue[] =>
  events.flatMap((it) => ('toolCall' in it ? [[it.toolCall.name, it.toolCall.args]] : []));
const usageOf = (events: ModelEvent[]): unknown => events.flatMap((it) => ('end' in it ? [it.end.usage] : []))[0];

const DONE = 'data: [DONE]\n\n';
const events = (...chunks: JsonObject[]): string => chunks.map((it) => `data: ${JSON.stringify(it)}\n\n`).join('');
const chunk = (delta: JsonObject, reason: string | null = null, more: JsonObject = {}): JsonObject => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: reason, logprobs: null }],
  ...more,
});
const usage = { prompt_tokens: 32, completion_tokens: 4, total_tokens: 36 };
const call = (fields: JsonObject): JsonObject => chunk({ tool_calls: [fields] });

/** Streams of one text, `hi there`, as servers send them. */
const TEXTS: [server: string, body: string, used: object | undefined][] = [
  [
    'llama.cpp, recorded: a first piece without text, the usage with its timings',
    `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"id":"chatcmpl-1eFC","model":"SmolLM2-135M-Instruct.Q4_1.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"hi"}}],"created":1,"id":"chatcmpl-1eFC","model":"SmolLM2-135M-Instruct.Q4_1.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" there"}}],"created":1,"id":"chatcmpl-1eFC","model":"SmolLM2-135M-Instruct.Q4_1.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1,"id":"chatcmpl-1eFC","model":"SmolLM2-135M-Instruct.Q4_1.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk"}

data: {"choices":[],"created":1,"id":"chatcmpl-1eFC","model":"SmolLM2-135M-Instruct.Q4_1.gguf","system_fingerprint":"b0-unknown","object":"chat.completion.chunk","usage":{"completion_tokens":4,"prompt_tokens":32,"total_tokens":36,"prompt_tokens_details":{"cached_tokens":0}},"timings":{"cache_n":4,"prompt_n":28,"prompt_ms":613.708,"predicted_n":4,"predicted_ms":239.014}}

data: [DONE]

`,
    { inputTokens: 32, outputTokens: 4 },
  ],
  [
    'vLLM: empty lists of calls, and usage in every piece',
    events(
      chunk({ role: 'assistant', content: '' }, null, { usage: { ...usage, completion_tokens: 0 } }),
      chunk({ content: 'hi', tool_calls: [] }, null, { usage: { ...usage, completion_tokens: 1 } }),
      chunk({ content: ' there', reasoning_content: null }, null, { usage }),
      chunk({ content: '' }, 'stop', { usage }),
      { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage },
    ) + DONE,
    { inputTokens: 32, outputTokens: 4 },
  ],
  [
    'Azure: the filter of the prompt before the first piece, and filters in each piece',
    events(
      { id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
      chunk({ role: 'assistant', content: 'hi there', refusal: null }, null, { usage: null }),
      chunk({}, 'stop', { usage: null }),
    ) + DONE,
    undefined,
  ],
  [
    'OpenRouter: comments while the provider is awaited, and reasoning beside the text',
    `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n${events(
      chunk({
        role: 'assistant',
        content: '',
        reasoning: 'They greet.',
        reasoning_details: [{ type: 'reasoning.text' }],
      }),
      chunk({ content: 'hi there', reasoning: null }),
      chunk({ content: '' }, 'stop', { usage }),
    )}${DONE}`,
    { inputTokens: 32, outputTokens: 4 },
  ],
  [
    'DeepSeek: reasoning before the text, and the usage beside the reason',
    events(
      chunk({ role: 'assistant', content: null, reasoning_content: 'They greet.' }),
      chunk({ content: 'hi there', reasoning_content: null }),
      chunk({ content: '', reasoning_content: null }, 'stop', { usage }),
    ) + DONE,
    { inputTokens: 32, outputTokens: 4 },
  ],
  [
    'TGI: no space after the colon, and a reason of its own',
    (events(chunk({ content: 'hi' }), chunk({ content: ' there' }, 'eos_token')) + DONE).replaceAll('data: ', 'data:'),
    undefined,
  ],
  [
    'Mistral: the text as a list of blocks, thoughts among them',
    events(
      chunk({ role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'They greet.' }] }] }),
      chunk({ content: [{ type: 'text', text: 'hi' }] }),
      chunk({ content: ' there' }, 'stop', { usage }),
    ) + DONE,
    { inputTokens: 32, outputTokens: 4 },
  ],
  [
    'a gateway: an empty reason in each piece, CR line ends, and no [DONE]',
    events(chunk({ content: 'hi' }, ''), chunk({ content: ' there' }, ''), chunk({}, 'stop')).replaceAll('\n', '\r'),
    undefined,
  ],
  [
    'a gateway: the whole answer as JSON, with a charset',
    JSON.stringify({ choices: [{ message: { content: 'hi there' }, finish_reason: 'stop' }], usage }),
    { inputTokens: 32, outputTokens: 4 },
  ],
];

/** Streams of one tool call, `look({"at":"home"})`, as servers send them. */
const CALLS: [server: string, body: string][] = [
  [
    'OpenAI: the arguments in pieces',
    events(
      chunk({ role: 'assistant', content: null, tool_calls: [openCall('')], refusal: null }),
      call({ index: 0, function: { arguments: '{"at":' } }),
      call({ index: 0, function: { arguments: '"home"}' } }),
      chunk({}, 'tool_calls'),
    ) + DONE,
  ],
  [
    'vLLM: null members in later pieces, and the last piece with the reason',
    events(
      chunk({ tool_calls: [openCall('{"at":')] }),
      call({ index: 0, id: null, type: null, function: { name: null, arguments: '"home"' } }),
      chunk({ content: '', tool_calls: [{ index: 0, function: { arguments: '}' } }] }, 'tool_calls'),
    ) + DONE,
  ],
  [
    'Ollama: the whole call in one piece with an empty text',
    events(
      chunk({ role: 'assistant', content: '', tool_calls: [openCall('{"at":"home"}')] }),
      chunk({ role: 'assistant', content: '' }, 'tool_calls'),
    ) + DONE,
  ],
  [
    "Gemini's endpoint: no index, and the reason stop",
    events(chunk({ role: 'assistant', tool_calls: [withoutIndex(openCall('{"at":"home"}'))] }, 'stop')) + DONE,
  ],
  [
    'LM Studio: an empty name in later pieces, and the reason stop',
    events(
      chunk({ tool_calls: [openCall('')] }),
      call({ index: 0, type: 'function', function: { name: '', arguments: '{"at":"home"}' } }),
      chunk({}, 'stop'),
    ) + DONE,
  ],
  [
    'a gateway: arguments that are an object, and the old reason function_call',
    events(
      call({ index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: { at: 'home' } } }),
      chunk({}, 'function_call'),
    ) + DONE,
  ],
];

function openCall(args: string): JsonObject {
  return { index: 0, id: 'c1', type: 'function', function: { name: 'look', arguments: args } };
}

function withoutIndex({ index: _index, ...rest }: JsonObject): JsonObject {
  return rest;
}

const said = (message: string, more: Partial<ModelError> = {}): Partial<ModelError> => ({ message, ...more });
const json = (status: number, body: JsonValue, headers: Record<string, string> = {}): Wire => ({
  status,
  type: 'application/json',
  headers,
  body: JSON.stringify(body),
});
const began = events(chunk({ role: 'assistant', content: 'hi' }));

/** Answers that are not whole, and how their calls fail. */
const FAILURES: [server: string, wire: Wire, failure: Partial<ModelError>][] = [
  [
    'llama.cpp, recorded: a conversation beyond the context',
    json(400, {
      error: {
        code: 400,
        message: 'request (9031 tokens) exceeds the available context size (8192 tokens), try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 9031,
        n_ctx: 8192,
      },
    }),
    { status: 400, fallback: true, isOverflow: true },
  ],
  [
    'llama.cpp, recorded: a body that it cannot use',
    json(500, {
      error: { code: 500, message: "Failed to parse tools: Expected 'tools' to be an array", type: 'server_error' },
    }),
    said("HTTP 500: Failed to parse tools: Expected 'tools' to be an array", { outage: 'server-error' }),
  ],
  [
    'vLLM before 0.10: no member error, a conversation beyond the context',
    json(400, {
      object: 'error',
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    }),
    { status: 400, fallback: true, isOverflow: true },
  ],
  [
    'TGI: an error that is a text',
    json(429, { error: 'Model is overloaded', error_type: 'overloaded' }, { 'retry-after': '3' }),
    said('HTTP 429: Model is overloaded', { outage: 'rate-limited', retryAfter: 3_000 }),
  ],
  ['FastAPI: an unknown path', json(404, { detail: 'Not Found' }), said('HTTP 404', { status: 404, fallback: false })],
  [
    'vLLM before 0.10: an unknown model',
    json(404, { object: 'error', message: 'The model `m` does not exist.', type: 'NotFoundError', code: 404 }),
    said('HTTP 404: The model `m` does not exist.', { status: 404, fallback: false }),
  ],
  [
    'FastAPI: details of a body that it refuses',
    json(422, { detail: [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required' }] }),
    said('HTTP 422: body.model: Field required', { status: 422, fallback: false }),
  ],
  [
    'OpenAI: a quota',
    json(429, {
      error: {
        message: 'You exceeded your current quota',
        type: 'insufficient_quota',
        param: null,
        code: 'insufficient_quota',
      },
    }),
    said('HTTP 429: You exceeded your current quota', { status: 429, outage: 'rate-limited' }),
  ],
  [
    "Anthropic's endpoint: overloaded",
    json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, { 'retry-after': '20' }),
    said('HTTP 529: Overloaded', { status: 529, outage: 'server-error', retryAfter: 20_000 }),
  ],
  [
    "Gemini's endpoint: an error in a list",
    json(503, [{ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }]),
    said('HTTP 503: The model is overloaded.', { status: 503, outage: 'server-error' }),
  ],
  [
    'Azure: a prompt that a filter refuses',
    json(400, {
      error: {
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    }),
    { status: 400, fallback: false, outage: undefined },
  ],
  [
    'a proxy: a page',
    { status: 502, type: 'text/html', body: '<html><body><h1>502 Bad Gateway</h1></body></html>' },
    said('HTTP 502', { status: 502, outage: 'server-error' }),
  ],
  [
    'LiteLLM: an error in the stream, with its status as a text',
    { body: began + events({ error: { message: 'Rate limited', type: 'None', param: 'None', code: '429' } }) },
    said('it broke off: Rate limited', { status: 429, outage: 'rate-limited', fallback: true }),
  ],
  [
    'OpenRouter: an error in the stream beside the choices',
    {
      body:
        began +
        events(chunk({ content: '' }, 'error', { error: { code: 502, message: 'Provider disconnected' } })) +
        DONE,
    },
    said('it broke off: Provider disconnected', { status: 502, outage: 'server-error', fallback: true }),
  ],
  [
    'TGI: an error in the stream that is a text',
    { body: began + events({ error: 'Request failed during generation: out of memory', error_type: 'generation' }) },
    said('it broke off: Request failed during generation: out of memory', { fallback: true }),
  ],
  [
    'a gateway: an error with the status 200',
    json(200, { error: { message: 'No healthy upstream', code: 503 } }),
    said('it broke off: No healthy upstream', { status: 503, outage: 'server-error', fallback: true }),
  ],
  [
    'OpenAI: a refusal in place of a text',
    {
      body:
        events(
          chunk({ role: 'assistant', content: null, refusal: '' }),
          chunk({ refusal: "I can't help with that." }),
          chunk({}, 'stop'),
        ) + DONE,
    },
    said('its answer was withheld', { fallback: false }),
  ],
  [
    'Azure: a filter in the middle',
    { body: began + events(chunk({}, 'content_filter')) + DONE },
    said('its answer was withheld', { fallback: false }),
  ],
  [
    'Mistral: a reason of its own for the length',
    { body: began + events(chunk({}, 'model_length')) + DONE },
    said('its answer was cut at its token limit', { fallback: true }),
  ],
  [
    'vLLM: an answer that the server aborts',
    { body: began + events(chunk({}, 'abort')) + DONE },
    said('its answer ended in the middle', { fallback: true }),
  ],
  [
    'DeepSeek: no resources',
    { body: began + events(chunk({}, 'insufficient_system_resource')) + DONE },
    said('its answer ended in the middle', { fallback: true }),
  ],
  [
    'a gateway: empty reasons, and an end in the middle',
    { body: events(chunk({ content: 'hi' }, '')) },
    said('its answer ended in the middle', { fallback: true, outage: 'connect' }),
  ],
];

describe('the answer of an OpenAI-compatible endpoint', () => {
  it.each([
    ['OpenRouter', { prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 } }],
    ['LiteLLM', { prompt_tokens_details: { cached_tokens: 2 }, cache_creation_input_tokens: 4 }],
  ])('reports tokens that are written to the cache: %s', async (_, more) => {
    const body = events(chunk({ content: 'hi' }, 'stop', { usage: { ...usage, ...more } })) + DONE;
    expect(usageOf(await read({ body }))).toMatchObject({ cachedInputTokens: 2, cacheWriteInputTokens: 4 });
  });

  it.each(TEXTS)('is a text: %s', async (_, body, used) => {
    const type = body.startsWith('{') ? 'application/json; charset=utf-8' : 'text/event-stream; charset=utf-8';
    const answer = await read({ body, type });
    expect(textOf(answer)).toBe('hi there');
    if (used === undefined) expect(usageOf(answer)).toBeUndefined();
    else expect(usageOf(answer)).toMatchObject(used);
  });

  it.each(CALLS)('is a call of a tool: %s', async (_, body) => {
    const answer = await read({ body });
    expect([textOf(answer), callsOf(answer)]).toEqual(['', [['look', { at: 'home' }]]]);
  });

  it.each(FAILURES)('is a failure: %s', async (_, wire, failure) => {
    expect(await failureOf(wire)).toMatchObject(failure);
  });
});
