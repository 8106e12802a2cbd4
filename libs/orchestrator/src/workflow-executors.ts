import { Injectable } from '@nestjs/common';
import { AgentDirectory } from '#libs/a2a-client';
import { RemoteContexts } from '#libs/agent-calls';
import { CallChains, WorkBudget } from '#libs/executor';
import { ServiceAddress } from '#libs/http';
import { AppConfig, Metrics } from '#libs/service';
import { TaskStore } from '#libs/tasks';
import { CancelOutcomes } from './cancel-outcomes.js';
import { NodeMetrics } from './node-metrics.js';
import { RerunOrigins } from './rerun/rerun-origins.js';
import { RunChildStore } from './run-child-store.js';
import { RunFolds } from './run-folds.js';
import { SYSTEM_CLOCK } from './run-clock.js';
import type { RunServices } from './run-services.js';
import type { WorkflowRevision } from './workflow.js';
import { WorkflowExecutor } from './workflow-executor.js';

/** Creates the executors of workflows. */
@Injectable()
export class WorkflowExecutors {
  private readonly services: RunServices;
  private readonly made = new WeakMap<WorkflowRevision, WorkflowExecutor>();

  constructor(
    directory: AgentDirectory,
    tasks: TaskStore,
    children: RunChildStore,
    contexts: RemoteContexts,
    cancels: CancelOutcomes,
    origins: RerunOrigins,
    chains: CallChains,
    address: ServiceAddress,
    config: AppConfig,
    metrics: Metrics,
    work: WorkBudget,
    folds: RunFolds,
  ) {
    const { content, nodeDispatch } = config;
    const localDispatch = nodeDispatch === 'local';
    this.services = {
      directory,
      tasks,
      children,
      folds,
      contexts,
      cancels,
      origins,
      chains,
      address,
      localDispatch,
      content,
      clock: SYSTEM_CLOCK,
      work,
      metrics: new NodeMetrics(metrics),
    };
  }

  /** Returns the executor of a revision; always the same one for the same revision. */
  getExecutor(workflow: WorkflowRevision): WorkflowExecutor {
    const known = this.made.get(workflow);
    if (known) return known;
    const executor = new WorkflowExecutor(workflow, this.services);
    this.made.set(workflow, executor);
    return executor;
  }
}
