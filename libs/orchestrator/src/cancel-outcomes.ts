import type { CallCancelOutcome } from '#libs/agent-calls';

/** What became of a run's cancel at one node's agent, after the run had ended. */
export interface LaterOutcome {
  runId: string;
  node: string;
  attempt: number;
  outcome: CallCancelOutcome;
}

/** Keeps how cancels came out that were tried again: the log of a run that has ended takes nothing more. */
export abstract class CancelOutcomes {
  /** Resolves when durable. The first outcome of a run, node and attempt stays. */
  abstract keep(outcome: LaterOutcome): Promise<void>;

  /** The outcomes of a run. */
  abstract of(runId: string): Promise<LaterOutcome[]>;
}
