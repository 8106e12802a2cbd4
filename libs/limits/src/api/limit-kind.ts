import { Injectable } from '@nestjs/common';
import {
  ConfigurationKinds,
  type ConfigurationObject,
  type ConfigurationSaver,
  TableKind,
  type WantedObject,
} from '#libs/configuration';
import { ProblemError, readBody } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import type { LimitDefinition } from '../limit.js';
import { AppConfig } from '#libs/service';
import { KnownLimits } from '../storage/known-limits.js';
import { type LimitColumns, limitColumns, toLimitDefinition } from '../storage/limit-columns.js';
import { MOST_LIMITS } from '../storage/limits.js';
import { LimitBody } from './limit-body.js';
import { assertOwnTenant } from './limits.controller.js';

/** Kind `limit` of configuration files (see libs/configuration): each object of this kind is a limit of a tenant. */
@Injectable()
export class LimitKind extends TableKind {
  readonly kind = 'limit';
  readonly rank = 25;
  protected readonly table = 'flow_limit';
  protected readonly columns = [
    'target',
    'per',
    'all_tenants',
    'concurrency',
    'rate_count',
    'rate_period',
    'rate_burst',
    'rate_ms',
  ];
  protected readonly most = MOST_LIMITS;
  protected readonly plural = 'limits';

  constructor(
    private readonly known: KnownLimits,
    private readonly config: AppConfig,
    kinds: ConfigurationKinds,
  ) {
    super();
    kinds.addKind(this);
  }

  override readObject(sent: JsonObject): ConfigurationObject {
    const { name, definition } = readBody(LimitBody, sent);
    return { id: name, name, definition: definition as unknown as JsonObject };
  }

  override assertAllowed(object: ConfigurationObject, saver: ConfigurationSaver, isDeleted: boolean): void {
    super.assertAllowed(object, saver, isDeleted);
    assertOwnTenant(object.definition as unknown as LimitDefinition, saver.tenant, this.config);
  }

  override async finishChange(): Promise<void> {
    this.known.forgetLimits();
  }

  protected override toColumns({ definition }: WantedObject): Record<string, unknown> {
    return limitColumns(definition as unknown as LimitDefinition);
  }

  protected override toDefinition(row: JsonObject): JsonObject {
    return toLimitDefinition(row as unknown as LimitColumns) as unknown as JsonObject;
  }
}

/** Finds the problems of a limit that can be found without a running service. */
export function findLimitProblems(sent: object): { path: string; detail: string }[] {
  try {
    void readBody(LimitBody, sent).definition;
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [...error.errors];
    throw error;
  }
}
