import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OpenAiLlm } from './openai-llm.js';

interface Call {
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: { model: string; messages: unknown };
}

describe('OpenAiLlm', () => {
  const calls: Call[] = [];
  let status = 200;
  let said = 'secret detail';
  let server: Server;
  let baseUrl: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        calls.push({ path: request.url, headers: request.headers, body: JSON.parse(body) as Call['body'] });
        const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
        const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'bonjour' } }];
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(status === 200 ? { id: 'c', choices, usage } : { error: { message: said } }));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  beforeEach(() => {
    calls.splice(0);
    status = 200;
  });
  afterAll(() => server.close().closeAllConnections());

  const messages = [{ role: 'user' as const, parts: [{ text: 'hello' }, { data: { a: 1 } }] }];
  const { signal } = new AbortController();
  const llm = () => new OpenAiLlm({ baseUrl, apiKey: 'key', model: 'small', fetch });

  it('asks the endpoint for a completion', async () => {
    const answer = await llm().answer({ model: undefined, messages, signal });
    expect(answer).toEqual({
      parts: [{ text: 'bonjour', mediaType: 'text/plain' }],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    });
    expect(calls).toMatchObject([
      {
        path: '/v1/chat/completions',
        headers: { authorization: 'Bearer key' },
        body: { model: 'small', messages: [{ role: 'user', content: 'hello\n\n{"a":1}' }] },
      },
    ]);
  });

  it('takes the model that a node names; echo stays built in', async () => {
    await llm().answer({ model: 'large', messages, signal });
    expect(calls[0]?.body.model).toBe('large');
    expect(await llm().answer({ model: 'echo', messages, signal })).toEqual({ parts: messages[0]?.parts });
    expect(calls).toHaveLength(1);
  });

  it('tells the status of a refusal and nothing of its text', async () => {
    status = 400;
    await expect(llm().answer({ model: 'm', messages, signal })).rejects.toThrow(/gave no answer: HTTP 400$/);
  });

  it('tells what a provider says that refuses the key, and nothing of the key', async () => {
    status = 401;
    said = 'Incorrect API key provided: sk-ab***xy (key). See https://provider.example/account/api-keys';
    const refused = llm().answer({ model: 'm', messages, signal });
    await expect(refused).rejects.toThrow(
      'model "m" gave no answer: the provider refused the key (HTTP 401): Incorrect API […] provided: […] ([…]). See',
    );
    await expect(refused).rejects.not.toThrow(/sk-ab|provider\.example/);
  });

  it.each([200, 400])('reads no more of an answer without an end than it takes (%s)', async (endless) => {
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
    const model = new OpenAiLlm({ baseUrl, fetch: async () => new Response(body, { status: endless, headers }) });
    const failure = endless === 200 ? 'model "m": the answer is longer than 16777216 bytes' : 'HTTP 400';
    await expect(model.answer({ model: 'm', messages, signal })).rejects.toThrow(failure);
    expect(pieces).toBeLessThan(30);
    expect(canceled).toBe(true);
  });

  it('ends with the signal', async () => {
    const reason = new Error('canceled');
    await expect(llm().answer({ model: 'm', messages, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
