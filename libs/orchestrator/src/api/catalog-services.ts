import { Injectable } from '@nestjs/common';
import { NodeTypes, BuiltInAgents, type ServedAgent } from '#libs/executor';
import { AppConfig } from '#libs/service';
import { WorkflowExecutors } from '../workflow-executors.js';
import type { WorkflowInterface } from '../workflow-outline.js';
import { VersionedCache } from './versioned-cache.js';

/** Dependencies that the catalogs of all tenants share; they differ only in their workflows. */
@Injectable()
export class CatalogServices {
  /** The service's own agent by tenant, with the skills of its card. */
  readonly serviceAgents = new VersionedCache<ServedAgent>();
  readonly interfaces = new VersionedCache<ReadonlyMap<string, WorkflowInterface>>();

  constructor(
    readonly nodeTypes: NodeTypes,
    readonly executors: WorkflowExecutors,
    readonly config: AppConfig,
    readonly own: BuiltInAgents,
  ) {}
}
