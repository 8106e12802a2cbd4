import { type DynamicModule, Module, type ModuleMetadata } from '@nestjs/common';
import { Processes, ProcessStreams } from '#libs/process';
import { RemoteChildren } from '../remote-children.js';
import { ApplyController } from './apply.controller.js';
import { ExpressionsController } from './expressions.controller.js';
import { RunInbox } from './run-inbox.js';
import { QuestionsController } from './questions.controller.js';
import { RequestBodies } from './request-bodies.js';
import { RunAnswers } from './run-answers.js';
import { Reruns } from './reruns.js';
import { RunList } from './run-list.js';
import { FailedRuns } from './failed-runs.js';
import { RunMetrics } from './run-metrics.js';
import { Runs } from './runs.js';
import { RunsController } from './runs.controller.js';
import { WorkflowApply } from './workflow-apply.js';
import { WorkflowCheck } from './workflow-check.js';
import { WorkflowPages } from './workflow-pages.js';
import { WorkflowRevisionsController } from './workflow-revisions.controller.js';
import { WorkflowRunsController } from './workflow-runs.controller.js';
import { WorkflowSchemaController } from './workflow-schema.controller.js';
import { WorkflowsController } from './workflows.controller.js';

/** The management API of workflows and runs. */
@Module({})
export class OrchestratorModule {
  /**
   * @param executor the ExecutorModule over WorkflowModule
   * @param tools modules that provide ToolServers; without it, names of MCP servers are not looked up
   */
  static withExecutor(executor: DynamicModule, ...tools: NonNullable<ModuleMetadata['imports']>): DynamicModule {
    return {
      module: OrchestratorModule,
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
