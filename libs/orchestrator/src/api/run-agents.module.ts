import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { RemoteContexts } from '#libs/agent-calls';
import { CallChainModule, WorkBudgetModule } from '#libs/executor';
import { CancelOutcomes } from '../cancel-outcomes.js';
import { ChildRunNode } from '../child-run-node.js';
import { RerunOrigins } from '../rerun/rerun-origins.js';
import { RunFolds } from '../run-folds.js';
import { RunChildStore } from '../run-child-store.js';
import { PostgresCancelOutcomes } from '../storage/postgres-cancel-outcomes.js';
import { PostgresRemoteContexts } from '../storage/postgres-remote-contexts.js';
import { PostgresRunChildStore } from '../storage/postgres-run-child-store.js';
import { PostgresWorkflowStore } from '../storage/postgres-workflow-store.js';
import { StoredRerunOrigins } from '../storage/stored-rerun-origins.js';
import { WorkflowExecutors } from '../workflow-executors.js';
import { WorkflowStore } from '../workflow-store.js';

/** Provides the executors of runs, including runs of nodes. Needs the modules of the `ground` layer. */
@Module({})
export class RunAgentsModule {
  /** @param agents modules that export AgentDirectory, TaskStore and TaskRetention */
  static withAgents(...agents: (DynamicModule | Type)[]): DynamicModule {
    return {
      module: RunAgentsModule,
      imports: [CallChainModule, WorkBudgetModule, ...agents],
      providers: [
        { provide: WorkflowStore, useClass: PostgresWorkflowStore },
        { provide: RunChildStore, useClass: PostgresRunChildStore },
        { provide: RemoteContexts, useClass: PostgresRemoteContexts },
        { provide: CancelOutcomes, useClass: PostgresCancelOutcomes },
        { provide: RerunOrigins, useClass: StoredRerunOrigins },
        RunFolds,
        WorkflowExecutors,
        ChildRunNode,
      ],
      exports: [
        WorkflowStore,
        RunChildStore,
        RemoteContexts,
        CancelOutcomes,
        RerunOrigins,
        RunFolds,
        WorkflowExecutors,
        ChildRunNode,
      ],
    };
  }
}
