import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { AgentCardsController } from './agent-cards.controller.js';
import { RequestBodies } from './request-bodies.js';
import { ProblemFilter } from './problem-filter.js';
import { RunList } from './run-list.js';
import { RunStreams } from './run-streams.js';
import { Runs } from './runs.js';
import { RunsController } from './runs.controller.js';
import { WorkflowRunsController } from './workflow-runs.controller.js';
import { WorkflowsController } from './workflows.controller.js';

/** The management API of workflows and runs. */
@Module({})
export class OrchestratorModule {
  /**
   * @param executor the ExecutorModule over WorkflowModule
   * @param agents exports AgentDirectory
   */
  static withExecutor(executor: DynamicModule, agents: Type): DynamicModule {
    return {
      module: OrchestratorModule,
      imports: [executor, agents],
      controllers: [WorkflowsController, WorkflowRunsController, RunsController, AgentCardsController],
      providers: [Runs, RunList, RunStreams, RequestBodies, { provide: APP_FILTER, useClass: ProblemFilter }],
      exports: [executor],
    };
  }
}
