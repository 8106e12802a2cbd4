import type { AgentDirectory } from '#libs/a2a-client';
import type { HopChains } from '#libs/executor';
import type { ContentLimits } from '#libs/service';
import type { TaskStore } from '#libs/tasks';
import type { RunChildStore } from './run-child-store.js';

/** What every run needs of the process it runs in. */
export interface RunServices {
  directory: AgentDirectory;
  tasks: TaskStore;
  children: RunChildStore;
  hops: HopChains;
  /** Where the nodes of this service are called; read at each call, since it is known only after listening. */
  address: { readonly internalUrl: string };
  /** Whether own nodes are called in this process, so that their Tasks name their run themselves. */
  localDispatch: boolean;
  /** How large what a run puts together may be. */
  content: ContentLimits;
}
