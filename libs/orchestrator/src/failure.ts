import type { CallFailureKind } from '#libs/agent-calls';

/** Why a node, or a run, failed. What a node does about it (`retry.on`) hangs on this alone, never on a text. */
export type FailureKind =
  | CallFailureKind // `failed` and `rejected` are ends of the agent's Task; `timeout` is also the node's own limit
  | 'rate-limited' // the agent asks to be called less often (HTTP 429)
  | 'invalid-output' // the node's result is not what its definition says
  | 'expression' // an expression of the definition has no value in this run
  | 'deadline' // the run's time is over
  | 'max-iterations'; // a loop has not come to its end

/** A failure of a node, or of a run where no node is to blame. */
export interface Failure {
  kind: FailureKind;
  /** May be shown to callers: it quotes agents, never our internals. */
  message: string;
  node?: string;
  /** Where it is not the node's id: `draft@2`, `tr[17]`. */
  instance?: string;
}
