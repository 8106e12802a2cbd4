import { BaseLlm, type BaseLlmConnection, LlmAgent, type LlmRequest, type LlmResponse, toA2a } from '@google/adk';
import { serve } from '../interop-stage.js';

/** A model without a network: it says what `answer` makes of the last text, in as many chunks as there are. */
export class FakeModel extends BaseLlm {
  constructor(private readonly answer: (text: string) => string[] | Promise<string[]>) {
    super({ model: 'fake' });
  }

  override async *generateContentAsync(request: LlmRequest, stream = false): AsyncGenerator<LlmResponse, void> {
    const parts = request.contents.at(-1)?.parts ?? [];
    const chunks = await this.answer(parts.map(({ text }) => text ?? '').join(''));
    if (stream) for (const text of chunks) yield { content: { role: 'model', parts: [{ text }] }, partial: true };
    yield { content: { role: 'model', parts: [{ text: chunks.join('') }] }, turnComplete: true };
  }

  override connect(): Promise<BaseLlmConnection> {
    throw new Error('nobody speaks live here');
  }
}

/** Serves an agent as ADK does. @param basePath where, below the server's URL; @returns its base URL */
export async function serveAdk(model: FakeModel, basePath = ''): Promise<{ base: string; stop(): void }> {
  const agent = new LlmAgent({ name: 'fake_adk', description: 'An agent of ADK', model, instruction: 'Answer.' });
  const { url, stop } = await serve(async (port) => {
    const app = await toA2a(agent, { host: '127.0.0.1', port, basePath, allowUnauthenticated: true });
    return (request, response) => app(request, response);
  });
  return { base: `${url}${basePath}`, stop };
}
