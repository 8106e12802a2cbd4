import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';

export interface LlmCall {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  body: JsonObject;
}

/** Answer of a fake model; sent piece by piece if the request asks for a stream. */
export interface FakeAnswer {
  /** Text, or its pieces. A promise among the pieces is awaited before the next piece is sent. */
  text?: string | (string | Promise<unknown>)[];
  /** Tool calls. Arguments given as a text are sent unchanged, even if they are not JSON. */
  toolCalls?: { id: string; name: string; args: JsonObject | string }[];
  usage?: { input: number; output: number; cached?: number; cacheWrite?: number; reasoning?: number } | 'unreported';
  /** HTTP status that is sent with an error in place of an answer. */
  status?: number;
  error?: string;
  headers?: Record<string, string>;
  /** Promises that are awaited before the answer begins, and before it ends. */
  begins?: Promise<unknown>;
  ends?: Promise<unknown>;
  /** Error message in the provider's format that ends the stream. */
  breaks?: string;
  /** Code of that error; absent: none. */
  breaksWith?: string | number;
  /** Reason for the end of the answer, in the provider's words. */
  reason?: string;
  /** Breaks the connection (`broken`), or ends the answer without a reason (`short`). */
  cut?: 'broken' | 'short';
}

/**
 * Fake of an OpenAI-compatible endpoint: records chat completions, and answers each as a test specifies. Like the
 * strictest provider, it refuses a request with an empty message.
 */
export class FakeLlm {
  readonly calls: LlmCall[] = [];
  /** Returns the answer to a request: a text, an HTTP status, or a FakeAnswer. */
  answer: (body: JsonObject) => string | number | FakeAnswer | Promise<string | number | FakeAnswer> = () =>
    'an answer';

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeLlm> {
    const server = createServer();
    const fake = new FakeLlm(server);
    server.on('request', (request, response) => void fake.handle(request, response).catch(() => response.destroy()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return fake;
  }

  /** Base URL, as a client of OpenAI's API expects it. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as JsonObject;
    this.calls.push({ path: request.url ?? '', headers: request.headers, body });
    const empty = emptyMessage(body);
    const answer = empty === undefined ? answerOf(await this.answer(body)) : { status: 400, error: empty };
    await reply(response, body, answer);
  }
}

/**
 * Returns the error of a strict provider for a message without content and without tool calls; `undefined` if there is
 * none.
 */
function emptyMessage({ messages }: JsonObject): string | undefined {
  const all = (messages ?? []) as { content?: string | unknown[] | null; tool_calls?: unknown[] }[];
  const at = all.findIndex(({ content, tool_calls: asked }) => {
    const isEmpty = typeof content === 'string' ? content.trim() === '' : (content ?? []).length === 0;
    return isEmpty && (asked ?? []).length === 0;
  });
  return at < 0 ? undefined : `messages[${at}].content must not be empty`;
}

function answerOf(answer: string | number | FakeAnswer): FakeAnswer {
  if (typeof answer === 'number') return { status: answer, error: 'the model is upset' };
  return typeof answer === 'string' ? { text: answer } : answer;
}

async function reply(response: ServerResponse, { model, stream }: JsonObject, answer: FakeAnswer): Promise<void> {
  await answer.begins;
  const { status = 200, error, headers = {} } = answer;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (status !== 200) sendJson(response, status, { error: { message: error ?? 'refused', type: 'fake', code: null } });
  else if (stream === true) await streamCompletion(response, String(model), answer);
  else sendJson(response, 200, completion(String(model), answer));
}

function completion(model: string, answer: FakeAnswer): JsonObject {
  const { text = '', toolCalls } = answer;
  const message = {
    role: 'assistant',
    content: [text].flat().join(''),
    ...(toolCalls && { tool_calls: calls(answer) }),
  };
  const choices = [{ index: 0, finish_reason: reasonOf(answer), message }];
  const usage = usageOf(answer);
  return { id: 'c', object: 'chat.completion', created: 1, model, choices, ...(usage && { usage }) };
}

async function streamCompletion(response: ServerResponse, model: string, answer: FakeAnswer): Promise<void> {
  const { text = [], toolCalls, ends, cut } = answer;
  const send = (fields: JsonObject): boolean =>
    response.write(event({ id: 'c', object: 'chat.completion.chunk', created: 1, model, ...fields }));
  const say = (delta: JsonObject, reason: string | null = null): boolean =>
    send({ choices: [{ index: 0, delta, finish_reason: reason }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const content of [text].flat())
    if (typeof content === 'string') say({ role: 'assistant', content });
    else await content;
  for (const call of toolCalls ? calls(answer) : []) say({ tool_calls: [call] });
  await ends;
  if (answer.breaks !== undefined)
    return void response.end(
      event({ error: { message: answer.breaks, ...(answer.breaksWith !== undefined && { code: answer.breaksWith }) } }),
    );
  // What was said has left before the connection breaks.
  if (cut === 'broken') return void response.write('\n', () => response.destroy());
  if (cut === 'short') return void response.end();
  say({}, reasonOf(answer));
  const usage = usageOf(answer);
  if (usage) send({ choices: [], usage });
  response.end('data: [DONE]\n\n');
}

function reasonOf({ reason, toolCalls }: FakeAnswer): string {
  return reason ?? (toolCalls ? 'tool_calls' : 'stop');
}

function event(fields: JsonObject): string {
  return `data: ${JSON.stringify(fields)}\n\n`;
}

function calls({ toolCalls = [] }: FakeAnswer): JsonObject[] {
  return toolCalls.map(({ id, name, args }, index) => {
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    return { index, id, type: 'function', function: { name, arguments: text } };
  });
}

function usageOf({ usage = { input: 1, output: 2 } }: FakeAnswer): JsonObject | undefined {
  if (usage === 'unreported') return undefined;
  const { input, output, cached, cacheWrite, reasoning } = usage;
  const details = {
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
  };
  return {
    ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    ...(Object.keys(details).length > 0 && { prompt_tokens_details: details }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
