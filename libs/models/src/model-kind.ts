import { Injectable } from '@nestjs/common';
import { ConfigurationKinds, type ConfigurationObject, TableKind, type WantedObject } from '#libs/configuration';
import { OutboundHttp } from '#libs/http-client';
import { assertCallable, ProblemError, readBody } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import type { ModelDefinition } from './model-definition.js';
import { MOST_MODELS } from './model-store.js';
import { ModelBody } from './models.controller.js';

/** Kind `model` of configuration files (see libs/configuration): each object of this kind is a model of a tenant. */
@Injectable()
export class ModelKind extends TableKind {
  readonly kind = 'model';
  readonly rank = 20;
  protected readonly table = 'model';
  protected readonly columns = ['provider', 'model', 'base_url', 'auth', 'input', 'price', 'defaults'];
  protected readonly most = MOST_MODELS;
  protected readonly plural = 'models';

  constructor(
    private readonly http: OutboundHttp,
    kinds: ConfigurationKinds,
  ) {
    super();
    kinds.addKind(this);
  }

  override readObject(sent: JsonObject): ConfigurationObject {
    const body = readBody(ModelBody, sent);
    const { definition } = body;
    if (definition.baseUrl !== undefined) assertCallable(this.http, definition.baseUrl, 'baseUrl');
    return { id: body.name, name: body.name, definition: definition as unknown as JsonObject };
  }

  protected override toColumns({ definition }: WantedObject): Record<string, unknown> {
    const { provider, model, baseUrl, auth, input, price, defaults } = definition as unknown as ModelDefinition;
    return {
      provider,
      model,
      base_url: baseUrl ?? null,
      auth: auth ?? null,
      input: JSON.stringify(input),
      price: price ? JSON.stringify(price) : null,
      defaults: defaults ? JSON.stringify(defaults) : null,
    };
  }

  protected override toDefinition(row: JsonObject): JsonObject {
    const { provider = '', model = '', base_url: baseUrl = null, auth = null, input = [] } = row;
    const { price = null, defaults = null } = row;
    return {
      provider,
      model,
      ...(baseUrl !== null && { baseUrl }),
      ...(auth !== null && { auth }),
      input,
      ...(price !== null && { price }),
      ...(defaults !== null && { defaults }),
    };
  }
}

/**
 * Returns the problems in the definition of a model, as a configuration file has it; an empty list if there are none.
 * Problems that only a running service can find are not included.
 */
export function findModelProblems(sent: object): { path: string; detail: string }[] {
  try {
    void readBody(ModelBody, sent).definition;
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [...error.errors];
    throw error;
  }
}
