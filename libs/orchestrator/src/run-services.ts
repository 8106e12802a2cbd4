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

/** What every run needs of the process it runs in. */
export interface RunServices extends ProcessServices {
  tasks: Pick<TaskStore, 'recordedChildren' | 'headers' | 'load' | 'events'>;
  children: RunChildStore;
  folds: Pick<RunFolds, 'take' | 'keep' | 'read'>;
  contexts: RemoteContexts;
  cancels: Pick<CancelOutcomes, 'keep'>;
  origins: RerunOrigins;
  /** Where the nodes of this service are called; read at each call, since it is known only after listening. */
  address: { readonly internalUrl: string };
  /** Whether own nodes are called in this process, so that their Tasks name their run themselves. */
  localDispatch: boolean;
  /** How large what a run puts together may be. */
  content: ContentLimits;
  clock: RunClock;
  /** Budget that runs share in this process. */
  work: WorkBudget;
  metrics?: NodeMetrics;
}
