import { Module } from '@nestjs/common';
import { AgentCatalog, BuiltInAgentsModule, CallChainModule } from '#libs/agents';
import { ConfigurationModule } from '#libs/configuration';
import { AgentReferences, AgentReferencesModule, Processes, ProcessStreams, RemoteContexts } from '#libs/durable';
import { ExecutorModule } from '#libs/executor';
import { KnownLimitsModule } from '#libs/limits';
import { TasksModule } from '#libs/tasks';
import { RunChildStore, RunFolds, WorkBudgetModule } from '#libs/workflow-engine';
import { ApplyController, WorkflowApply } from './api/apply.controller.js';
import { ExpressionsController } from './api/expressions.controller.js';
import { RunCauses } from './api/run-causes.js';
import { OverviewController, RunOverview } from './api/overview.controller.js';
import { QuestionsController, RunInbox } from './api/questions.controller.js';
import { Reruns } from './api/reruns.js';
import { RunAnswers } from './api/run-answers.js';
import { BulkRuns, BulkSlots } from './api/run-bulk.js';
import { RunBulkController } from './api/run-bulk.controller.js';
import { RunCountController, RunCounter } from './api/run-count.controller.js';
import { RunCostController } from './api/run-cost.controller.js';
import { RunDiffs } from './api/run-diff.js';
import { RunList } from './api/run-list.js';
import { FailedRuns, RunMetrics } from './api/run-metrics.js';
import { RequestBodies, RunsController, WorkflowRunsController } from './api/runs.controller.js';
import { Runs } from './api/runs.js';
import { RunUsages, UsageController } from './api/usage.controller.js';
import { WorkflowCheck } from './api/workflow-check.js';
import { WorkflowFailuresController } from './api/workflow-failures.controller.js';
import { WorkflowPages } from './api/workflow-pages.js';
import { WorkflowRevisionsController } from './api/workflow-revisions.controller.js';
import { WorkflowSchemaController, WorkflowsController } from './api/workflows.controller.js';
import { ChildRunNode } from './catalog/child-run-node.js';
import { WorkflowCatalog } from './catalog/workflow-catalog.js';
import { CatalogServices, WorkflowExecutors } from './catalog/workflow-executors.js';
import { CancelRetries, RemoteChildren } from './children/cancel-retries.js';
import { RemoteLooks, RemoteLookStore } from './children/remote-looks.js';
import { RunWaking } from './children/run-waking.js';
import { FailureStreaks } from './storage/failure-streaks.js';
import {
  CancelOutcomes,
  PostgresRemoteContexts,
  PostgresRemoteLookStore,
  PostgresRunChildStore,
  RerunOrigins,
  RevisionPurge,
} from './storage/postgres-run-stores.js';
import { PostgresWorkflowStore } from './storage/postgres-workflow-store.js';
import { RunActivityReader } from './storage/run-activity.js';
import { RunDeck } from './storage/run-deck.js';
import { PostgresRunSlots, RunSlotJobs } from './storage/run-slots.js';
import { RunWaits } from './storage/run-waits.js';
import { WorkflowStore } from './storage/workflow-store.js';

/**
 * Module of the executors of runs, including the runs of `workflow` nodes. Needs the modules of the ground layer and a
 * global AgentDirectory.
 */
@Module({
  imports: [CallChainModule, KnownLimitsModule, WorkBudgetModule, TasksModule],
  providers: [
    { provide: WorkflowStore, useClass: PostgresWorkflowStore },
    { provide: RunChildStore, useClass: PostgresRunChildStore },
    { provide: RemoteContexts, useClass: PostgresRemoteContexts },
    CancelOutcomes,
    RerunOrigins,
    RunFolds,
    RunDeck,
    PostgresRunSlots,
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
    PostgresRunSlots,
    WorkflowExecutors,
    ChildRunNode,
  ],
})
export class RunAgentsModule {}

/** Module of workflows and their agents. Needs the modules that RunAgentsModule needs, and a global NodeTypes. */
@Module({
  imports: [RunAgentsModule, AgentReferencesModule, BuiltInAgentsModule, TasksModule],
  providers: [
    CancelRetries,
    RunWaking,
    RunSlotJobs,
    RemoteLooks,
    { provide: RemoteLookStore, useClass: PostgresRemoteLookStore },
    RevisionPurge,
    CatalogServices,
    { provide: AgentCatalog, useClass: WorkflowCatalog },
  ],
  exports: [AgentCatalog],
})
export class WorkflowAgentsModule {
  constructor(references: AgentReferences, catalog: AgentCatalog) {
    references.setCatalog(catalog);
  }
}

/** Module of the management API for workflows and runs. Needs a global AgentCatalog, NodeTypes and ToolServers. */
@Module({
  imports: [ExecutorModule, RunAgentsModule, AgentReferencesModule, ConfigurationModule],
  controllers: [
    WorkflowsController,
    ApplyController,
    WorkflowRevisionsController,
    WorkflowRunsController,
    WorkflowFailuresController,
    WorkflowSchemaController,
    ExpressionsController,
    RunBulkController,
    RunCountController,
    RunCostController,
    RunsController,
    QuestionsController,
    UsageController,
    OverviewController,
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
    RunCounter,
    BulkRuns,
    BulkSlots,
    RunDiffs,
    FailureStreaks,
    RunAnswers,
    RunInbox,
    RunUsages,
    RunActivityReader,
    RunWaits,
    RunCauses,
    RunOverview,
    RunMetrics,
    FailedRuns,
    RequestBodies,
    RemoteChildren,
  ],
})
export class WorkflowsModule {}
