import type { RemoteContexts } from '#libs/agent-calls';
import type { WorkBudget } from '#libs/executor';
import type { ProcessServices } from '#libs/process';
import type { ContentLimits } from '#libs/service';
import type { TaskStore } from '#libs/tasks';
import type { CancelOutcomes } from './cancel-outcomes.js';
import type { RunClock } from './run-clock.js';
import type { RerunOrigins } from './rerun/rerun-origins.js';
import type { NodeMetrics } from './node-metrics.js';
import type { RunChildStore } from './run-child-store.js';
import type { RunFolds } from './run-folds.js';

/** Services of the process that every run needs. */
export interface RunServices extends ProcessServices {
  tasks: Pick<TaskStore, 'recordedChildren' | 'readHeaders' | 'loadTask' | 'readEvents'>;
  children: RunChildStore;
  folds: Pick<RunFolds, 'takeFold' | 'keepFold' | 'readRunState'>;
  contexts: RemoteContexts;
  cancels: Pick<CancelOutcomes, 'recordOutcome'>;
  origins: RerunOrigins;
  /** Base URL of the nodes of this service. Read it at each call: it is known only after the server listens. */
  address: { readonly internalUrl: string };
  /** True if nodes of this service are called in this process, so that their Tasks name their run themselves. */
  localDispatch: boolean;
  /** Limits of the content that a run builds. */
  content: ContentLimits;
  clock: RunClock;
  /** Work budget that the runs of this process share. */
  work: WorkBudget;
  metrics?: NodeMetrics;
}
