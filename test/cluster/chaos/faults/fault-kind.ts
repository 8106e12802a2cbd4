import type { OwnPostgres } from '../../../support/own-postgres.js';
import type { SeededRandom } from '../../../support/seeded-random.js';
import type { TrialReplicas } from '../trial-replicas.js';

/** Objects that faults act on. */
export interface FaultStage {
  replicas: TrialReplicas;
  /** Single PostgreSQL server of the trial; undefined if the database is a cluster with leaders. */
  postgres: OwnPostgres | undefined;
}

/** Kind of fault. */
export interface FaultKind {
  /** Name of the kind in `--faults`. */
  readonly name: string;
  /** Frequency, relative to the shares of the other kinds. */
  readonly share: number;
  /** True if later faults may happen while this one lasts. */
  readonly beside?: boolean;
  /** Chooses the details of one fault of this kind. The same random numbers give the same fault. */
  draw(random: SeededRandom): Deed;
}

/** Fault that is ready to be caused. */
export interface Deed {
  /** Description of the fault in one line, for the output of the trial. */
  title: string;
  /**
   * Causes the fault, and resolves when everything has recovered. @returns false if there was nothing to break
   * @param target number from 0 to 1 that chooses among the replicas that exist at that time
   */
  cause(stage: FaultStage, target: number): Promise<boolean>;
}

/** Returns a text with the name of a fault and its duration. */
export function lasting(name: string, seconds: number): string {
  return `${name} for ${seconds.toFixed(1)} s`;
}
