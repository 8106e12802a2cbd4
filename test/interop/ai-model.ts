import { type Answer, piecesOf } from './fake-model.js';

interface Prompt {
  prompt: { role: string; content: string | { type: string; text?: string }[] }[];
}

/** A call of a tool that a model asks for, told from what was said so far. */
export type Asking = (roles: readonly string[]) => { name: string; args: object } | undefined;

/**
 * A model of the AI SDK without a network, as several frameworks take one: it says what `answer` makes of the last text.
 * @param asking absent: it asks for no tool
 */
export function aiModel(answer: Answer, asking: Asking = () => undefined): unknown {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  async function* pieces({ prompt }: Prompt): AsyncGenerator<string, void> {
    const content = prompt.findLast(({ role }) => role === 'user')?.content ?? '';
    yield* piecesOf(answer, typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join(''));
  }
  const callFor = ({ prompt }: Prompt): object | undefined => {
    const asked = asking(prompt.map(({ role }) => role));
    return asked && { type: 'tool-call', toolCallId: 'c', toolName: asked.name, input: JSON.stringify(asked.args) };
  };
  async function* parts(options: Prompt): AsyncGenerator<object, void> {
    yield { type: 'stream-start', warnings: [] };
    const call = callFor(options);
    if (call) {
      yield call;
      yield { type: 'finish', finishReason: 'tool-calls', usage };
      return;
    }
    yield { type: 'text-start', id: 't' };
    for await (const delta of pieces(options)) yield { type: 'text-delta', id: 't', delta };
    yield { type: 'text-end', id: 't' };
    yield { type: 'finish', finishReason: 'stop', usage };
  }
  return {
    specificationVersion: 'v2',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    doGenerate: async (options: Prompt) => {
      const call = callFor(options);
      if (call) return { content: [call], finishReason: 'tool-calls', usage, warnings: [] };
      const text = (await Array.fromAsync(pieces(options))).join('');
      return { content: [{ type: 'text', text }], finishReason: 'stop', usage, warnings: [] };
    },
    doStream: async (options: Prompt) => ({ stream: ReadableStream.from(parts(options)) }),
  };
}
