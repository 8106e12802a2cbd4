import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { AgentCatalog, CallChainModule, BuiltInAgentsModule } from '#libs/executor';
import { CancelOutcomes } from '../cancel-outcomes.js';
import { CancelRetries } from '../cancel-retries.js';
import { RunChildStore } from '../run-child-store.js';
import { RerunOrigins } from '../rerun/rerun-origins.js';
import { PostgresCancelOutcomes } from '../storage/postgres-cancel-outcomes.js';
import { PostgresRunChildStore } from '../storage/postgres-run-child-store.js';
import { RevisionPurge } from '../storage/revision-purge.js';
import { StoredRerunOrigins } from '../storage/stored-rerun-origins.js';
import { PostgresWorkflowStore } from '../storage/postgres-workflow-store.js';
import { WorkflowExecutors } from '../workflow-executors.js';
import { WorkflowStore } from '../workflow-store.js';
import { CatalogServices } from './catalog-services.js';
import { WorkflowCatalog } from './workflow-catalog.js';

/** Workflows and the agents that they are. Needs the ground's modules. */
@Module({})
export class WorkflowModule {
  /** @param agents modules that export NodeTypes, AgentDirectory, TaskStore and TaskRetention */
  static withAgents(...agents: (DynamicModule | Type)[]): DynamicModule {
    return {
      module: WorkflowModule,
      imports: [BuiltInAgentsModule, CallChainModule, ...agents],
      providers: [
        { provide: WorkflowStore, useClass: PostgresWorkflowStore },
        { provide: RunChildStore, useClass: PostgresRunChildStore },
        { provide: RerunOrigins, useClass: StoredRerunOrigins },
        { provide: CancelOutcomes, useClass: PostgresCancelOutcomes },
        CancelRetries,
        RevisionPurge,
        WorkflowExecutors,
        CatalogServices,
        { provide: AgentCatalog, useClass: WorkflowCatalog },
      ],
      exports: [WorkflowStore, RunChildStore, CancelOutcomes, AgentCatalog, ...agents],
    };
  }
}
