import {
  BaseLlm,
  type BaseLlmConnection,
  LlmAgent,
  type LlmRequest,
  type LlmResponse,
  LogLevel,
  LongRunningFunctionTool,
  setLogLevel,
  toA2a,
} from '@google/adk';
import { type Answer, piecesOf } from '../fake-model.js';
import { serve } from '../interop-stage.js';

// It warns of each agent that it serves to everybody.
setLogLevel(LogLevel.ERROR);

/** A model without a network: it says what `answer` makes of the last text; where there is a tool, it asks that first. */
class FakeModel extends BaseLlm {
  constructor(private readonly answer: Answer) {
    super({ model: 'fake' });
  }

  override async *generateContentAsync(request: LlmRequest, stream = false): AsyncGenerator<LlmResponse, void> {
    const parts = request.contents.at(-1)?.parts ?? [];
    const [tool] = Object.keys(request.toolsDict ?? {});
    const told = parts.find(({ functionResponse }) => functionResponse !== undefined)?.functionResponse;
    if (tool !== undefined && told === undefined) {
      const functionCall = { id: 'call', name: tool, args: { question: 'Which tea?' } };
      yield { content: { role: 'model', parts: [{ functionCall }] }, turnComplete: true };
      return;
    }
    const text = told ? JSON.stringify(told.response) : parts.map((part) => part.text ?? '').join('');
    let whole = '';
    for await (const piece of piecesOf(this.answer, text)) {
      whole += piece;
      if (stream) yield { content: { role: 'model', parts: [{ text: piece }] }, partial: true };
    }
    yield { content: { role: 'model', parts: [{ text: whole }] }, turnComplete: true };
  }

  override connect(): Promise<BaseLlmConnection> {
    throw new Error('nobody speaks live here');
  }
}

/**
 * Serves an agent as ADK does.
 * @param basePath where, below the server's URL
 * @param asks whether it asks somebody before it answers
 * @returns its base URL
 */
export async function serveAdk(
  answer: Answer,
  { basePath = '', asks = false } = {},
): Promise<{ base: string; stop(): void }> {
  const ask = new LongRunningFunctionTool({ name: 'ask', description: 'Asks somebody', execute: async () => null });
  const agent = new LlmAgent({
    name: 'fake_adk',
    description: 'An agent of ADK',
    model: new FakeModel(answer),
    instruction: 'Answer.',
    ...(asks && { tools: [ask] }),
  });
  const { url, stop } = await serve(async (port) => {
    const app = await toA2a(agent, { host: '127.0.0.1', port, basePath, allowUnauthenticated: true });
    return (request, response) => app(request, response);
  });
  return { base: `${url}${basePath}`, stop };
}
