import type { Role } from './role.js';

/** Who last set a part of the merged state. */
export interface Source {
  agent: string;
  role: Role;
  /** From 1. */
  iteration: number;
}

/** By path (`architecture`, `risks[0]`, `metrics.confidence`); what nobody has set since the beginning is not in it. */
export type Provenance = Record<string, Source>;
