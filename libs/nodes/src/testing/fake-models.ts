import { type Model, type ModelCall, ModelError, type ModelEvent, Models, type WantedModel } from '#libs/models';

/** Function that returns the events of a fake model for a call. */
export type Answering = (call: ModelCall, name: string) => Iterable<ModelEvent> | AsyncIterable<ModelEvent>;

/** Models that answer as a test says, and record their calls. */
export class FakeModels extends Models {
  override readonly defaultModel = { name: 'default-model', inputModes: ['text/plain', 'application/json'] };
  /** Media types that models accept, by name. */
  modes: Record<string, string[]> = {};
  readonly calls: { model: string; call: ModelCall; credentials?: readonly string[] }[] = [];
  /** Origins of models, by name. */
  origins: Record<string, string> = {};
  /** Form in which the models call tools; absent: `native`. */
  toolCalls?: Model['toolCalls'];

  constructor(public answer: Answering = () => says('answer')) {
    super();
  }

  override async findModel(name = this.defaultModel.name, { credentials }: Partial<WantedModel> = {}): Promise<Model> {
    if (name === 'unknown') throw new ModelError('there is no model "unknown"');
    const stream = (call: ModelCall): AsyncIterable<ModelEvent> => this.stream(call, name, credentials);
    return { name, inputModes: this.defaultModel.inputModes, toolCalls: this.toolCalls, streamAnswer: stream };
  }

  override async findOrigin(name = this.defaultModel.name): Promise<string | undefined> {
    return this.origins[name];
  }

  override async findInput(name: string): Promise<{ modes: readonly string[] }> {
    return { modes: this.modes[name] ?? this.defaultModel.inputModes };
  }

  private async *stream(call: ModelCall, model: string, credentials?: readonly string[]): AsyncIterable<ModelEvent> {
    const copy = structuredClone({ ...call, signal: undefined }) as unknown as ModelCall;
    this.calls.push({ model, call: copy, ...(credentials && { credentials }) });
    yield* this.answer(call, model);
  }
}

/** Returns the events of an answer that arrives in one piece. */
export function says(text: string, usage = { inputTokens: 2, outputTokens: 1 }): ModelEvent[] {
  return [{ text }, { end: { reason: 'stop', usage } }];
}

/**
 * Returns the events of an answer that requests tool calls, each by name and arguments. The id of a call is its
 * position in the whole conversation.
 */
export function asks(call: ModelCall, ...tools: [name: string, args: Record<string, string>][]): ModelEvent[] {
  const first = call.messages.filter(({ role }) => role === 'assistant').length * 10;
  const calls = tools.map(([name, args], index) => ({ toolCall: { id: `c${first + index}`, name, args } }));
  return [...calls, { end: { reason: 'tool-calls', usage: { inputTokens: 2, outputTokens: 1 } } }];
}
