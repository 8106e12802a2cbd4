import type { CallCancelOutcome } from '#libs/agent-calls';

/** Outcome of the cancel at one node's agent, known only after the run had ended. */
export interface LaterOutcome {
  runId: string;
  node: string;
  attempt: number;
  outcome: CallCancelOutcome;
}

/** Store of the outcomes of retried cancels. The log of a run that has ended takes no more events. */
export abstract class CancelOutcomes {
  /** Resolves when the outcome is durable. The first outcome of a run, node and attempt stays. */
  abstract recordOutcome(outcome: LaterOutcome): Promise<void>;

  /** Returns the outcomes of a run. */
  abstract listOutcomes(runId: string): Promise<LaterOutcome[]>;
}
