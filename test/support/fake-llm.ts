import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '#libs/protocol';

export interface LlmCall {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  body: JsonObject;
}

/** A fake OpenAI-compatible endpoint: records chat completions and answers each with what a test tells it. */
export class FakeLlm {
  readonly calls: LlmCall[] = [];
  /** The answer to a request: a text, or an HTTP status. */
  answer: (body: JsonObject) => string | number = () => 'an answer';

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FakeLlm> {
    const server = createServer();
    const fake = new FakeLlm(server);
    server.on('request', (request, response) => void fake.handle(request, response).catch(() => response.destroy()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return fake;
  }

  /** The base URL, as a client of OpenAI's API is given it. */
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
    const answer = this.answer(body);
    if (typeof answer === 'number') sendJson(response, answer, { error: { message: 'the model is upset' } });
    else if (body.stream === true) streamCompletion(response, String(body.model), answer);
    else sendJson(response, 200, completion(String(body.model), answer));
  }
}

function completion(model: string, content: string): JsonObject {
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }];
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  return { id: 'c', object: 'chat.completion', created: 1, model, choices, usage };
}

function streamCompletion(response: ServerResponse, model: string, content: string): void {
  const chunk = (delta: JsonObject, reason: string | null): string => {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices })}\n\n`;
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`${chunk({ role: 'assistant', content }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`);
}

function sendJson(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
