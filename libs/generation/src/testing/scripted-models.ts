import { ECHO_MODEL, type Model, type ModelCall, ModelError, type ModelEvent, Models } from '#libs/models';

/** Answer of a model to a call: a text as its whole answer, or its events. */
export type ScriptedAnswer = string | ((call: ModelCall) => AsyncIterable<ModelEvent>);

/** Models that answer by a script and record their calls. The last answer of the script is repeated. */
export class ScriptedModels extends Models {
  override defaultModel = { name: 'scripted', inputModes: ['text/plain'] };
  readonly calls: ModelCall[] = [];
  readonly found: (string | undefined)[] = [];
  /** Number of streams that ended, or whose reader left. */
  ended = 0;

  constructor(private readonly answers: readonly ScriptedAnswer[]) {
    super();
  }

  /** Returns the texts of the messages of one call. */
  texts(call: number): string[] {
    const messages = this.calls[call]?.messages ?? [];
    return messages.flatMap((message) => ('parts' in message ? message.parts : [])).map(({ text }) => text ?? '');
  }

  override async findModel(name = this.defaultModel.name): Promise<Model> {
    this.found.push(name);
    if (name === 'unknown') throw new ModelError('there is no model "unknown"');
    const stream = (call: ModelCall): AsyncIterable<ModelEvent> => this.stream(call);
    return { name, inputModes: this.defaultModel.inputModes, streamAnswer: stream };
  }

  override async findOrigin(): Promise<undefined> {
    return undefined;
  }

  override async findInput(): Promise<{ modes: readonly string[] }> {
    return { modes: this.defaultModel.inputModes };
  }

  private async *stream(call: ModelCall): AsyncIterable<ModelEvent> {
    // The generator appends to its own list later, so the list is copied.
    this.calls.push({ ...call, messages: [...call.messages] });
    const answer = this.answers[Math.min(this.calls.length, this.answers.length) - 1] ?? '';
    try {
      if (typeof answer === 'string') yield* saying(answer);
      else yield* answer(call);
    } finally {
      this.ended += 1;
    }
  }
}

/** Models of a service that has only the built-in model. */
export class NoModels extends ScriptedModels {
  override defaultModel = { name: ECHO_MODEL, inputModes: ['text/plain'] };

  constructor() {
    super([]);
  }

  override findModel(): Promise<Model> {
    return super.findModel(ECHO_MODEL);
  }
}

/** Returns the events of an answer that arrives in one piece. */
export function saying(text: string): ModelEvent[] {
  return [{ text }, { end: { reason: 'stop', usage: { inputTokens: 100, outputTokens: 10 } } }];
}
