import type { JsonObject } from '#libs/protocol';
import { type FakeAnswer, FakeLlm } from './fake-llm.js';
import { type Api, unique } from './workflow.js';

/** Fake model that is stored at a service, and its endpoint. */
export interface KeptModel {
  name: string;
  llm: FakeLlm;
}

/** Starts a fake model and registers it with a service. */
export async function keepModel(api: Api, defer: (end: () => unknown) => void): Promise<KeptModel> {
  const llm = await FakeLlm.start();
  defer(() => llm.stop());
  const name = unique('model');
  const body = { name, provider: 'openai-compatible', model: 'fake', baseUrl: llm.url };
  const reply = await api.call('POST', '/models', body);
  if (reply.status !== 201) throw new Error(`Keeping a model failed: ${reply.status} ${reply.text}`);
  return { name, llm };
}

/**
 * Creates answers of a model that calls the tools one after the other, each with a message, and then quotes their
 * results.
 * @param between called before each call with the number of finished calls
 */
export function callingInTurn(
  tools: readonly string[],
  between: (done: number) => unknown = () => undefined,
): (body: JsonObject) => FakeAnswer {
  return ({ messages }) => {
    const results = (messages as JsonObject[]).filter(({ role }) => role === 'tool').map(({ content }) => content);
    const name = tools[results.length];
    if (name === undefined) return { text: JSON.stringify(results) };
    between(results.length);
    return { toolCalls: [{ id: `c${results.length}`, name, args: { message: 'go' } }] };
  };
}

/** Returns the tools that a model was offered in a request: their descriptions by name. */
export function offeredTools({ tools }: JsonObject): Record<string, string> {
  const offered = (tools ?? []) as { function: { name: string; description: string } }[];
  return Object.fromEntries(offered.map(({ function: { name, description } }) => [name, description]));
}
