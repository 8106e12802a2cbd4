import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AgentCatalog, BuiltInAgentsModule } from '#libs/executor';
import { CancelRetries } from '../cancel-retries.js';
import { RemoteLookStore } from '../remote-look-store.js';
import { RemoteLooks } from '../remote-looks.js';
import { RunWaking } from '../run-waking.js';
import { PostgresRemoteLookStore } from '../storage/postgres-remote-look-store.js';
import { RevisionPurge } from '../storage/revision-purge.js';
import { CatalogServices } from './catalog-services.js';
import { WorkflowCatalog } from './workflow-catalog.js';

/** Provides workflows and their agents. Needs the modules of the `ground` layer. */
@Module({})
export class WorkflowModule {
  /** @param agents modules that export NodeTypes, RunAgentsModule's exports, and what these need */
  static withAgents(...agents: (DynamicModule | Type)[]): DynamicModule {
    return {
      module: WorkflowModule,
      imports: [BuiltInAgentsModule, ...agents],
      providers: [
        CancelRetries,
        RunWaking,
        RemoteLooks,
        { provide: RemoteLookStore, useClass: PostgresRemoteLookStore },
        RevisionPurge,
        CatalogServices,
        { provide: AgentCatalog, useClass: WorkflowCatalog },
      ],
      exports: [AgentCatalog, ...agents],
    };
  }
}
