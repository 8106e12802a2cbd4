import { EchoModel, type Model, type ModelCall, Models } from '#libs/models';

/** One model under every name; without one the built-in. */
export class FixedModels extends Models {
  readonly defaultModel: Model;

  constructor(model: Model = new EchoModel()) {
    super();
    this.defaultModel = model;
  }

  async find(name?: string): Promise<Model> {
    const { defaultModel } = this;
    if (name === undefined) return defaultModel;
    return { name, inputModes: defaultModel.inputModes, stream: (call) => defaultModel.stream(call) };
  }
}

/** Says a text to whatever it is told, and remembers that. */
export class SayingModel implements Model {
  readonly name = 'default-model';
  readonly inputModes = ['text/plain', 'application/json'];
  readonly calls: ModelCall[] = [];

  constructor(public say: string | Error) {}

  async *stream(call: ModelCall): ReturnType<Model['stream']> {
    this.calls.push(call);
    if (this.say instanceof Error) throw this.say;
    yield { text: this.say };
    yield { end: { reason: 'stop', usage: { inputTokens: 1, outputTokens: 2 } } };
  }
}
