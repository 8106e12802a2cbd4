import { Agent } from '@mastra/core/agent';
import { Mastra } from '@mastra/core/mastra';
import { InMemoryStore } from '@mastra/core/storage';
import { createTool } from '@mastra/core/tools';
import { MastraServer } from '@mastra/hono';
import { InMemoryTaskStore } from '@mastra/server/a2a/store';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { z } from 'zod';
import { aiModel } from '../ai-model.js';
import type { Answer } from '../fake-model.js';
import { serve } from '../interop-stage.js';

type Model = NonNullable<ConstructorParameters<typeof Agent>[0]['model']>;

/** Waits for whoever is asked. */
const ask = createTool({
  id: 'ask',
  description: 'Asks somebody',
  inputSchema: z.object({ question: z.string() }),
  suspendSchema: z.object({ message: z.string() }),
  resumeSchema: z.object({ tea: z.string() }),
  execute: async ({ question }, context) => {
    const told = context.agent?.resumeData as { tea: string } | undefined;
    if (told) return { tea: told.tea };
    await context.agent?.suspend({ message: question });
    return undefined;
  },
});

/** Serves an agent as Mastra does. @returns its card's URL and the URL that its card names */
export async function serveMastra(
  answer: Answer,
  { asks = false } = {},
): Promise<{ card: string; rpc: string; stop(): void }> {
  const model = aiModel(answer, (roles) =>
    asks && !roles.includes('tool') ? { name: 'ask', args: { question: 'Which tea?' } } : undefined,
  ) as Model;
  const agent = new Agent({
    id: 'fake',
    name: 'fake',
    instructions: 'Answer.',
    model,
    ...(asks && { tools: { ask } }),
  });
  const mastra = new Mastra({ logger: false, agents: { fake: agent }, storage: new InMemoryStore() });
  const { url, stop } = await serve(async () => {
    const app = new Hono();
    await new MastraServer({ app, mastra, taskStore: new InMemoryTaskStore() } as ConstructorParameters<
      typeof MastraServer
    >[0]).init();
    return getRequestListener(app.fetch);
  });
  return { card: `${url}/api/.well-known/fake/agent-card.json`, rpc: `${url}/api/a2a/fake`, stop };
}
