import { Injectable } from '@nestjs/common';
import { ECHO_MODEL, type Model, ModelError, Models, ModelStore } from '#libs/models';
import { AppConfig } from '#libs/service';
import { noModel, refusedModel } from './generation-error.js';

/** Maximum models that an error names. */
const MOST_NAMED = 20;

export interface RequestedModel {
  tenant: string;
  /** Name that the caller gave, if any. */
  name: string | undefined;
  signal: AbortSignal;
}

/** Finds the model that writes a workflow. */
@Injectable()
export class GenerationModels {
  constructor(
    private readonly models: Models,
    private readonly store: ModelStore,
    private readonly config: AppConfig,
  ) {}

  /**
   * Returns the model that the caller names, else the model of `GENERATE_MODEL`, else the default model, else the
   * tenant's only model.
   * @throws ProblemError 422: with the path `model` for an unknown name, or a name that is required; with the reason
   * `NO_MODEL` if only the built-in model exists
   */
  async findModel({ tenant, name, signal }: RequestedModel): Promise<Model> {
    const wanted = name ?? this.config.llm.generateModel ?? (await this.usualName(tenant));
    try {
      const model = await this.models.findModel(wanted, { tenant, signal });
      if (model.name === ECHO_MODEL) throw noModel();
      return model;
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      throw name === undefined ? noModel(error.message) : refusedModel(error.message);
    }
  }

  /** Returns the name of the tenant's only model if there is no default model; `undefined` for the default model. */
  private async usualName(tenant: string): Promise<string | undefined> {
    if (this.models.defaultModel.name !== ECHO_MODEL) return undefined;
    const names = (await this.store.listModels(tenant, { limit: MOST_NAMED, after: '' })).map((it) => it.name);
    if (names.length > 1) throw refusedModel(`must name the model that writes the workflow: ${names.join(', ')}`);
    return names[0];
  }
}
