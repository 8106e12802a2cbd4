import { Agent, type Message, Model, type ModelStreamEvent } from '@strands-agents/sdk';
import { A2AExpressServer } from '@strands-agents/sdk/a2a/express';
import express from 'express';
import { type Answer, piecesOf } from '../fake-model.js';
import { serve } from '../interop-stage.js';

/** A model without a network. */
class FakeModel extends Model<{ modelId: string }> {
  constructor(private readonly answer: Answer) {
    super();
  }

  override updateConfig(): void {}

  override getConfig(): { modelId: string } {
    return { modelId: 'fake' };
  }

  override async *stream(messages: Message[]): AsyncIterable<ModelStreamEvent> {
    const blocks = messages.at(-1)?.content ?? [];
    const text = blocks.map((block) => (block.type === 'textBlock' ? block.text : '')).join('');
    yield { type: 'modelMessageStartEvent', role: 'assistant' };
    yield { type: 'modelContentBlockStartEvent' };
    for await (const piece of piecesOf(this.answer, text))
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text: piece } };
    yield { type: 'modelContentBlockStopEvent' };
    yield { type: 'modelMessageStopEvent', stopReason: 'endTurn' };
  }
}

/** Serves an agent as Strands does. @returns its base URL */
export async function serveStrands(answer: Answer): Promise<{ base: string; stop(): void }> {
  const { url, stop } = await serve(async (port) => {
    const agentFactory = (): Agent => new Agent({ model: new FakeModel(answer), printer: false });
    const server = new A2AExpressServer({ agentFactory, name: 'fake', description: 'An agent of Strands', port });
    const app = express();
    app.use(server.createMiddleware());
    return (request, response) => app(request, response);
  });
  return { base: url, stop };
}
