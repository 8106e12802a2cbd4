import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { MastraServer } from '@mastra/hono';
import { InMemoryTaskStore } from '@mastra/server/a2a/store';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { serve } from '../interop-stage.js';

type Model = NonNullable<ConstructorParameters<typeof Agent>[0]['model']>;
interface Prompt {
  prompt: { role: string; content: string | { type: string; text?: string }[] }[];
}

/** A model without a network: it says what `answer` makes of the last text, in as many chunks as there are. */
function fakeModel(answer: (text: string) => string[]): Model {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const said = ({ prompt }: Prompt): string[] => {
    const content = prompt.at(-1)?.content ?? '';
    return answer(typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''));
  };
  return {
    specificationVersion: 'v2',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    doGenerate: async (options: Prompt) => {
      const content = [{ type: 'text', text: said(options).join('') }];
      return { content, finishReason: 'stop', usage, warnings: [] };
    },
    doStream: async (options: Prompt) => {
      const deltas = said(options).map((delta) => ({ type: 'text-delta', id: 't', delta }));
      const parts = [
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: 't' },
        ...deltas,
        { type: 'text-end', id: 't' },
        { type: 'finish', finishReason: 'stop', usage },
      ];
      return { stream: ReadableStream.from(parts) };
    },
  } as unknown as Model;
}

/** Serves an agent as Mastra does. @returns its card's URL and the URL that its card names */
export async function serveMastra(
  answer: (text: string) => string[],
): Promise<{ card: string; rpc: string; stop(): void }> {
  const agent = new Agent({ id: 'fake', name: 'fake', instructions: 'Answer.', model: fakeModel(answer) });
  const mastra = new Mastra({ logger: false, agents: { fake: agent } });
  const { url, stop } = await serve(async () => {
    const app = new Hono();
    await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() } as ConstructorParameters<
      typeof MastraServer
    >[0]).init();
    return getRequestListener(app.fetch);
  });
  return { card: `${url}/api/.well-known/fake/agent-card.json`, rpc: `${url}/api/a2a/fake`, stop };
}
