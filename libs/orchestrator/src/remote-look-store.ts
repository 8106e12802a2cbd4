import type { NextLook, RemoteLook } from './remote-look-job.js';

/** Stored state of a run and of a question for which it waits. */
export interface LookPlace {
  /** True if the run has ended or is gone. */
  ended: boolean;
  /** True if a poll has found that the remote Task has moved on. */
  movedOn: boolean;
}

/** Stores the results of polls and the time slots of remote agents, for all replicas. */
export abstract class RemoteLookStore {
  abstract readPlace(look: RemoteLook): Promise<LookPlace>;

  /**
   * Enqueues the running job's next poll.
   * @returns false, without enqueuing, if another job has replaced the running one
   */
  abstract continueWith(next: NextLook): Promise<boolean>;

  /**
   * Reserves the next time slot of an agent. Slots are `spacing` milliseconds apart.
   * @returns the milliseconds until the slot
   */
  abstract reserveTurn(agent: string, spacing: number): Promise<number>;

  /** Stores that the remote Task has moved on, unless another job has replaced that of the poll. */
  abstract keepMovedOn(look: RemoteLook): Promise<void>;

  /** Makes a waiting run due. @returns false if the run is executing or has ended */
  abstract wakeRun(runId: string): Promise<boolean>;

  /** Deletes the time slots of agents that no run waits for. */
  abstract forgetIdleAgents(): Promise<void>;
}
