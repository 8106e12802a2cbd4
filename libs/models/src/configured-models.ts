import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '#libs/outbound';
import { AppConfig, Metrics } from '#libs/service';
import { ECHO_MODEL, EchoModel } from './echo-model.js';
import type { Model } from './model.js';
import { ModelCounts } from './model-counts.js';
import { KeySigner } from './model-signer.js';
import { type ModelInput, Models } from './models.js';
import { ProviderModel } from './provider-model.js';

/**
 * The models of the operator's endpoint (`LLM_*`), each by its name there; without an endpoint the built-in model
 * answers, whichever is wanted.
 */
@Injectable()
export class ConfiguredModels extends Models {
  readonly defaultModel: Model;
  /** Whether there is an endpoint: it says itself which names it does not know. */
  readonly hasEndpoint: boolean;
  private readonly echo: Model;
  private readonly named: (name: string) => Model;

  constructor({ llm }: AppConfig, http: OutboundHttp, metrics: Metrics) {
    super();
    const { baseUrl, apiKey, inputModes: input } = llm;
    const counts = new ModelCounts(metrics);
    this.hasEndpoint = baseUrl !== undefined;
    this.echo = counts.over(new EchoModel());
    if (baseUrl === undefined) {
      this.named = () => this.echo;
    } else {
      // The operator named the endpoint: it may be in a private network, or on this machine.
      const ways = { http: http.trusting(baseUrl), files: http.fetch, signer: new KeySigner(apiKey) };
      this.named = (model) =>
        counts.over(new ProviderModel({ ...ways, provider: 'openai-compatible', name: model, model, baseUrl, input }));
    }
    this.defaultModel = this.model(llm.model ?? ECHO_MODEL);
  }

  async find(name: string | undefined): Promise<Model> {
    return name === undefined ? this.defaultModel : this.model(name);
  }

  async input(name: string): Promise<ModelInput> {
    return { modes: this.model(name).inputModes };
  }

  private model(name: string): Model {
    return name === ECHO_MODEL ? this.echo : this.named(name);
  }
}
