import { Injectable } from '@nestjs/common';
import { NodeTypes, BuiltInAgents } from '#libs/executor';
import { AppConfig } from '#libs/service';
import { WorkflowExecutors } from '../workflow-executors.js';

/** What the catalogs of all tenants share: they differ in their workflows and in nothing else. */
@Injectable()
export class CatalogServices {
  constructor(
    readonly nodeTypes: NodeTypes,
    readonly executors: WorkflowExecutors,
    readonly config: AppConfig,
    readonly own: BuiltInAgents,
  ) {}
}
