import { Injectable } from '@nestjs/common';
import { NodeTypes, BuiltInAgents, type ServedAgent } from '#libs/executor';
import { AppConfig } from '#libs/service';
import { WorkflowExecutors } from '../workflow-executors.js';
import type { WorkflowInterface } from '../workflow-outline.js';
import { VersionedCache } from './versioned-cache.js';

/** What the catalogs of all tenants share: they differ in their workflows and in nothing else. */
@Injectable()
export class CatalogServices {
  /** The service as an agent, with the skills that its card lists. */
  readonly serviceAgents = new VersionedCache<ServedAgent>();
  readonly interfaces = new VersionedCache<ReadonlyMap<string, WorkflowInterface>>();

  constructor(
    readonly nodeTypes: NodeTypes,
    readonly executors: WorkflowExecutors,
    readonly config: AppConfig,
    readonly own: BuiltInAgents,
  ) {}
}
