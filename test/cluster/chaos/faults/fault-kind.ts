import type { OwnPostgres } from '../../../support/own-postgres.js';
import type { SeededRandom } from '../../../support/seeded-random.js';
import type { TrialReplicas } from '../trial-replicas.js';

/** What faults work on. */
export interface FaultStage {
  replicas: TrialReplicas;
  /** The one PostgreSQL of the trial; undefined where it is a cluster with leaders. */
  postgres: OwnPostgres | undefined;
}

/** One kind of fault. */
export interface FaultKind {
  /** Its name in `--faults`. */
  readonly name: string;
  /** How often it comes, relative to the shares of the others. */
  readonly share: number;
  /** True if later faults may come while it lasts. */
  readonly beside?: boolean;
  /** Draws one fault of this kind. The same choices give the same fault. */
  draw(random: SeededRandom): Deed;
}

/** One fault, ready to be caused. */
export interface Deed {
  /** One line for the reader of the trial. */
  title: string;
  /**
   * Breaks something, and resolves when it is whole again: with false if there was nothing that it could break.
   * @param target from 0 to 1, chooses among the replicas that there are then
   */
  cause(stage: FaultStage, target: number): Promise<boolean>;
}

/** Says how long a fault lasts. */
export function lasting(name: string, seconds: number): string {
  return `${name} for ${seconds.toFixed(1)} s`;
}
