import { Injectable } from '@nestjs/common';
import { ProblemError } from '#libs/http-server';
import { ECHO_MODEL, type Model, ModelError, Models, ModelStore } from '#libs/models';
import { AppConfig } from '#libs/service';
import { LONGEST_MS } from './generation-limits.js';

const FAILED = 'GENERATION_FAILED';

/** Returns the problem that no model is available. */
function noModel(detail = 'Set LLM_BASE_URL or add a model under /api/models.'): ProblemError {
  return new ProblemError(422, detail, [], 'NO_MODEL');
}

/** Returns the problem of a model that does not exist, or of a request that must name a model. */
function refusedModel(detail: string): ProblemError {
  return new ProblemError(422, detail, [{ path: 'model', detail }]);
}

/**
 * Returns the problem of a failed call of a model: 422 if the caller named a model that the endpoint does not have,
 * else 502 with the message of the provider.
 */
export function failedModel(error: ModelError, isNamed: boolean): ProblemError {
  // The endpoint of `LLM_BASE_URL` has its own list of models.
  if (isNamed && error.status === 404) return refusedModel(error.message);
  return new ProblemError(502, error.message, [], 'MODEL_FAILED');
}

/** Returns the problem of a model whose answer is not a definition. */
export function unusableAnswer(model: string, fault: string): ProblemError {
  return new ProblemError(502, `model "${model}" ${fault}`, [], FAILED);
}

/** Returns the problem of a request that exceeded its time limit. */
export function tooSlow(): ProblemError {
  return new ProblemError(504, `The model was not done after ${LONGEST_MS / 1000} seconds`, [], FAILED);
}

/** Maximum number of models that an error names. */
const MOST_NAMED = 20;

export interface RequestedModel {
  tenant: string;
  /** Name of the model in the caller's request; `undefined` if the request names no model. */
  name: string | undefined;
  signal: AbortSignal;
}

/** Decides which model writes a workflow. */
@Injectable()
export class GenerationModels {
  constructor(
    private readonly models: Models,
    private readonly store: ModelStore,
    private readonly config: AppConfig,
  ) {}

  /**
   * Returns the model that the caller names, else the model of `GENERATE_MODEL`, else the default model, else the only
   * stored model of the tenant.
   * @throws ProblemError 422
   * - with the path `model` if the caller names an unknown model, or must name one of several models
   * - with the reason `NO_MODEL` if only the built-in model exists, or the configured model does not
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

  /**
   * Returns the name of the tenant's only stored model; `undefined` if a default model is configured, or the tenant has
   * no model.
   * @throws ProblemError 422 with the path `model` if the tenant has several models and no default model is configured
   */
  private async usualName(tenant: string): Promise<string | undefined> {
    if (this.models.defaultModel.name !== ECHO_MODEL) return undefined;
    const names = (await this.store.listModels(tenant, { limit: MOST_NAMED, after: '' })).map((it) => it.name);
    if (names.length > 1) throw refusedModel(`must name the model that writes the workflow: ${names.join(', ')}`);
    return names[0];
  }
}
