import { OutboundHttp } from '#libs/http-client';
import type { JsonObject } from '#libs/protocol';
import { loadConfig } from '#libs/service';
import { FakeLlm } from '../../../../test/support/fake-llm.js';
import type { Model, ModelCall } from '../model.js';
import { KeySigner } from '../provider/model-signer.js';
import { ProviderModel, type ProviderModelOptions } from '../provider/provider-model.js';

export const KEY = 'sk-a-key-of-this-test';

/** Model of an OpenAI-compatible endpoint, which answers "bonjour" at the beginning of each test. */
export class TriedModel {
  readonly outbound = new OutboundHttp(loadConfig({ HOST: '127.0.0.1' }));
  private endpoint: FakeLlm | undefined;

  /** Starts the endpoint before the tests of a `describe`, and stops it after them. */
  constructor() {
    beforeAll(async () => (this.endpoint = await FakeLlm.start()));
    beforeEach(() => {
      this.llm.calls.splice(0);
      this.llm.answer = () => 'bonjour';
    });
    afterAll(async () => {
      await this.outbound.close();
      await this.llm.stop();
    });
  }

  /** Running endpoint. It does not exist before the first test has begun. */
  get llm(): FakeLlm {
    return this.endpoint!;
  }

  readonly model = (more: Partial<ProviderModelOptions> = {}): Model =>
    new ProviderModel({
      name: 'small',
      provider: 'openai-compatible',
      model: 'small',
      baseUrl: this.llm.url,
      input: [],
      signer: new KeySigner(KEY),
      http: this.outbound.fetch,
      files: this.outbound.fetch,
      ...more,
    });

  readonly asked = (more: Partial<ModelCall> = {}): ModelCall => ({
    messages: [{ role: 'user', parts: [{ text: 'hello' }] }],
    signal: new AbortController().signal,
    ...more,
  });

  /** Returns the body of the last request. */
  readonly sent = (): JsonObject => this.llm.calls.at(-1)!.body;
}
