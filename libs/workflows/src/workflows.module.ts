import { type DynamicModule, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { Processes, ProcessStreams, RemoteContexts } from '#libs/durable';
import { AgentCatalog, BuiltInAgentsModule, CallChainModule, WorkBudgetModule } from '#libs/executor';
import { CancelOutcomes, RerunOrigins, RunChildStore, RunFolds } from '#libs/workflow-engine';
import { ApplyController, WorkflowApply } from './api/apply.controller.js';
import { ExpressionsController } from './api/expressions.controller.js';
import { QuestionsController, RunInbox } from './api/questions.controller.js';
import { Reruns } from './api/reruns.js';
import { RunAnswers } from './api/run-answers.js';
import { RunList } from './api/run-list.js';
import { FailedRuns, RunMetrics } from './api/run-metrics.js';
import { RequestBodies, RunsController, WorkflowRunsController } from './api/runs.controller.js';
import { Runs } from './api/runs.js';
import { WorkflowCheck } from './api/workflow-check.js';
import { WorkflowPages } from './api/workflow-pages.js';
import {
  WorkflowRevisionsController,
  WorkflowSchemaController,
  WorkflowsController,
} from './api/workflows.controller.js';
import { ChildRunNode } from './catalog/child-run-node.js';
import { WorkflowCatalog } from './catalog/workflow-catalog.js';
import { CatalogServices, WorkflowExecutors } from './catalog/workflow-executors.js';
import { CancelRetries, RemoteChildren } from './children/cancel-retries.js';
import { RemoteLooks, RemoteLookStore } from './children/remote-looks.js';
import { RunWaking } from './children/run-waking.js';
import {
  PostgresCancelOutcomes,
  PostgresRemoteContexts,
  PostgresRemoteLookStore,
  PostgresRunChildStore,
  RevisionPurge,
  StoredRerunOrigins,
} from './storage/postgres-run-stores.js';
import { PostgresWorkflowStore } from './storage/postgres-workflow-store.js';
import { WorkflowStore } from './storage/workflow-store.js';

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

/** Provides workflows and their agents. Needs the modules of the `ground` layer. */
@Module({})
export class WorkflowAgentsModule {
  /** @param agents modules that export NodeTypes, RunAgentsModule's exports, and what these need */
  static withAgents(...agents: (DynamicModule | Type)[]): DynamicModule {
    return {
      module: WorkflowAgentsModule,
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

/** The management API of workflows and runs. */
@Module({})
export class WorkflowsModule {
  /**
   * @param executor the ExecutorModule over WorkflowAgentsModule
   * @param tools modules that provide ToolServers; without it, names of MCP servers are not looked up
   */
  static withExecutor(executor: DynamicModule, ...tools: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: WorkflowsModule,
      imports: [executor, ...tools],
      controllers: [
        WorkflowsController,
        ApplyController,
        WorkflowRevisionsController,
        WorkflowRunsController,
        WorkflowSchemaController,
        ExpressionsController,
        RunsController,
        QuestionsController,
      ],
      providers: [
        WorkflowCheck,
        WorkflowApply,
        WorkflowPages,
        Processes,
        ProcessStreams,
        Runs,
        Reruns,
        RunList,
        RunAnswers,
        RunInbox,
        RunMetrics,
        FailedRuns,
        RequestBodies,
        RemoteChildren,
      ],
      exports: [executor],
    };
  }
}
