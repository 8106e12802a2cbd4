import { Injectable } from '@nestjs/common';
import { RequestSigners } from '#libs/a2a-client';
import { OutboundHttp } from '#libs/outbound';
import { Metrics } from '#libs/service';
import { ConfiguredModels } from './configured-models.js';
import { ECHO_MODEL } from './echo-model.js';
import type { Model } from './model.js';
import { ModelCounts } from './model-counts.js';
import { ModelError } from './model-error.js';
import { CredentialSigner, FirstUsableSigner, KeySigner, type ModelSigner } from './model-signer.js';
import { inputModes, type ModelProvider, type ModelSettings, PROVIDER_URLS } from './model-settings.js';
import { ModelStore } from './model-store.js';
import { type ModelInput, Models, type WantedModel } from './models.js';
import { ProviderModel } from './provider-model.js';
import { MODEL_NAME, type StoredModel } from './stored-model.js';

/**
 * Models of `/api/models`, then those of the operator's endpoint. Without an endpoint, the built-in model answers
 * unknown names only for tenants that store no models; otherwise an unknown name is an error.
 */
@Injectable()
export class StoredModels extends Models {
  readonly defaultModel: Model;
  private readonly counts: ModelCounts;

  constructor(
    private readonly configured: ConfiguredModels,
    private readonly store: ModelStore,
    private readonly signers: RequestSigners,
    private readonly http: OutboundHttp,
    metrics: Metrics,
  ) {
    super();
    this.defaultModel = configured.defaultModel;
    this.counts = new ModelCounts(metrics);
  }

  /** Finds a model. It is read each time, so a change applies from the next call on, on every replica. */
  async findModel(name: string | undefined, wanted: WantedModel): Promise<Model> {
    const { tenant, signal } = wanted;
    if (name === undefined || name === ECHO_MODEL) return this.ofOperator(name, wanted);
    const found = MODEL_NAME.test(name) ? await this.store.awaitModel({ tenant, name }, signal) : undefined;
    if (found) return this.counts.countModel(this.modelOf(found, wanted));
    if (!this.configured.hasEndpoint && (await this.store.isInUse(tenant, signal)))
      throw new ModelError(`there is no model "${name}"`);
    return this.ofOperator(name, wanted);
  }

  /** Returns the origin of a model, read each time. */
  async findOrigin(name: string | undefined, { tenant }: Pick<WantedModel, 'tenant'>): Promise<string | undefined> {
    const found = name && MODEL_NAME.test(name) ? await this.store.readModel({ tenant, name }) : undefined;
    if (!found) return this.configured.findOrigin(name);
    const baseUrl = found.baseUrl ?? defaultUrl(found.provider);
    return URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
  }

  /** Returns the input of a model, read each time. */
  async findInput(name: string, { tenant }: { tenant: string }): Promise<ModelInput> {
    const found = MODEL_NAME.test(name) ? await this.store.readModel({ tenant, name }) : undefined;
    return found ? { modes: inputModes(found.input), changedAt: found.updatedAt } : this.configured.findInput(name);
  }

  private modelOf({ tenant, name, auth, ...rest }: StoredModel, wanted: WantedModel): Model {
    const baseUrl = rest.baseUrl ?? defaultUrl(rest.provider);
    const ownSigner = (): ModelSigner =>
      auth === undefined
        ? new KeySigner(undefined)
        : new CredentialSigner(this.signers, { credential: auth, tenant, agentUrl: baseUrl }, rest.provider);
    const signer = this.signerOf(wanted, rest.provider) ?? ownSigner();
    return new ProviderModel({ ...rest, ...this.configured.shared, name, baseUrl, signer, http: this.http.fetch });
  }

  private async ofOperator(name: string | undefined, wanted: WantedModel): Promise<Model> {
    const signer = this.signerOf(wanted, 'openai-compatible');
    return signer ? this.configured.signedBy(signer, name) : this.configured.findModel(name);
  }

  /** Returns the signer that replaces the model's own; `undefined` if no credential is named. */
  private signerOf({ tenant, credentials = [] }: WantedModel, provider: ModelProvider): ModelSigner | undefined {
    if (credentials.length === 0) return undefined;
    return new FirstUsableSigner(this.signers, { tenant, credentials }, provider);
  }
}

function defaultUrl(provider: ModelSettings['provider']): string {
  return provider === 'openai-compatible' ? '' : PROVIDER_URLS[provider];
}
