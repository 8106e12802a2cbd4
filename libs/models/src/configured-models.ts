import { Injectable, Optional } from '@nestjs/common';
import { OwnFiles } from '#libs/files';
import { OutboundHttp } from '#libs/outbound';
import { AppConfig, ContentRooms, Metrics, ReceivedAnswers } from '#libs/service';
import { ECHO_MODEL, EchoModel } from './echo-model.js';
import type { Model } from './model.js';
import { ModelCounts } from './model-counts.js';
import { ModelError } from './model-error.js';
import { KeySigner, type ModelSigner } from './model-signer.js';
import { type ModelInput, Models, type WantedModel } from './models.js';
import { ProviderModel, type ProviderModelOptions } from './provider-model.js';

/**
 * Models of the operator's endpoint (`LLM_*`), by their names there. Without an endpoint, the built-in model answers
 * for every name.
 */
@Injectable()
export class ConfiguredModels extends Models {
  readonly defaultModel: Model;
  /** True if there is an endpoint, which itself rejects unknown names. */
  readonly hasEndpoint: boolean;
  /** Options shared by the calls of all models in this process. */
  readonly shared: Pick<ProviderModelOptions, 'files' | 'ownFiles' | 'fileLimit' | 'fileRoom' | 'room' | 'jsonMembers'>;
  private readonly endpoint: string | undefined;
  private readonly echo: Model;
  private readonly named: (name: string, signer?: ModelSigner) => Model;

  /** @param ownFiles absent in a stand-alone agent, which stores no files */
  constructor(
    { llm, content }: AppConfig,
    http: OutboundHttp,
    metrics: Metrics,
    @Optional() ownFiles?: OwnFiles,
    @Optional() room?: ReceivedAnswers,
    @Optional() rooms?: ContentRooms,
  ) {
    super();
    const { artifact: fileLimit, jsonMembers } = content;
    const fileRoom = rooms?.modelFiles;
    this.shared = { files: http.fetch, ownFiles, fileLimit, fileRoom, room, jsonMembers };
    const { baseUrl, apiKey, inputModes: input } = llm;
    const counts = new ModelCounts(metrics);
    this.hasEndpoint = baseUrl !== undefined;
    this.endpoint = baseUrl;
    this.echo = counts.countModel(new EchoModel());
    if (baseUrl === undefined) {
      this.named = () => this.echo;
    } else {
      // The operator chose the endpoint, so it may be in a private network or on this machine.
      const ways = {
        ...this.shared,
        http: http.trustingFetch(baseUrl),
        provider: 'openai-compatible',
        baseUrl,
      } as const;
      const key = new KeySigner(apiKey);
      this.named = (model, signer = key) =>
        counts.countModel(new ProviderModel({ ...ways, signer, name: model, model, input }));
    }
    this.defaultModel = this.selectModel(llm.model ?? ECHO_MODEL);
  }

  /** @throws ModelError if a credential is named, as none is stored here */
  async findModel(name: string | undefined, { credentials = [] }: Partial<WantedModel> = {}): Promise<Model> {
    if (credentials.length > 0) throw new ModelError('there are no credentials here');
    return name === undefined ? this.defaultModel : this.selectModel(name);
  }

  /** Returns a model that is called with another credential in place of the operator's key. */
  signedBy(signer: ModelSigner, name = this.defaultModel.name): Model {
    return this.selectModel(name, signer);
  }

  async findOrigin(name = this.defaultModel.name): Promise<string | undefined> {
    return name === ECHO_MODEL || this.endpoint === undefined ? undefined : new URL(this.endpoint).origin;
  }

  async findInput(name: string): Promise<ModelInput> {
    return { modes: this.selectModel(name).inputModes };
  }

  private selectModel(name: string, signer?: ModelSigner): Model {
    return name === ECHO_MODEL ? this.echo : this.named(name, signer);
  }
}
