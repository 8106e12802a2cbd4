import type { NextLook, RemoteLook } from './remote-look-job.js';

/** State of a run and of a question that it waits with, as the store has it. */
export interface LookPlace {
  /** True if the run has ended or is gone. */
  ended: boolean;
  /** True if a look has found that the agent's Task has moved on. */
  movedOn: boolean;
}

/** Keeps what looks at Tasks of agents elsewhere have found, and the turns of those agents, for all replicas. */
export abstract class RemoteLookStore {
  abstract place(look: RemoteLook): Promise<LookPlace>;

  /**
   * Enqueues the job's own next look.
   * @returns false, and enqueues nothing, where another job has taken the place of this one
   */
  abstract continueWith(next: NextLook): Promise<boolean>;

  /**
   * Reserves the next turn of an agent; turns lie `spacing` milliseconds apart.
   * @returns the milliseconds until then
   */
  abstract reserve(agent: string, spacing: number): Promise<number>;

  /** Keeps that the agent's Task has moved on, unless another job has taken the place of that of the look. */
  abstract keepMovedOn(look: RemoteLook): Promise<void>;

  /** Makes a run due that waits. @returns false where the run is at work or has ended */
  abstract wake(runId: string): Promise<boolean>;

  /** Forgets agents that no run waits for any more. */
  abstract tidy(): Promise<void>;
}
