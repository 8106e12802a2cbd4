import type { BrainstormRole } from './role.js';

/** Agent that last set a part of the merged state. */
export interface Source {
  agent: string;
  role: BrainstormRole;
  /** Iteration, from 1. */
  iteration: number;
}

/** Sources by path (`architecture`, `risks[0]`, `metrics.confidence`). Parts that no agent has set are absent. */
export type Provenance = Record<string, Source>;
