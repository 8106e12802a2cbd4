import { AgentCallError } from '#libs/a2a-client';

/**
 * Maximum age in milliseconds of the proof that this replica still holds the Task when a call leaves the process. A
 * replica that stalls for ten seconds, or loses its session, is taken over. It may wake with a call decided long
 * before.
 */
const PROOF_MS = 1_000;
/** Maximum age in milliseconds of a proof when it arrives. A database that is merely slow still lets calls out. */
const ANSWER_MS = 5_000;
/** Attempts. A proof is late if this process stalled or the database is busy: attempts cover two minutes of that. */
const MOST_QUESTIONS = 24;

/** Lets calls of a Task leave only while this replica holds the Task. */
export class ClaimProof {
  /**
   * @param provenAt a `performance.now()` after which the store accepted an event of this execution
   * @param prove throws if another replica holds the Task
   */
  constructor(
    private provenAt: number,
    private readonly prove: () => Promise<void>,
  ) {}

  /**
   * Proves the claim unless the last proof is fresh.
   * @throws AgentCallError `aborted` if this replica lost the Task, `timeout` if that cannot be decided in time
   */
  readonly renewProof = async (): Promise<void> => {
    if (performance.now() - this.provenAt <= PROOF_MS) return;
    for (let questions = 0; questions < MOST_QUESTIONS; questions += 1) {
      const asked = performance.now();
      await this.proveClaim();
      this.provenAt = asked;
      if (performance.now() - asked < ANSWER_MS) return;
    }
    throw new AgentCallError('timeout', 'it was not known in time whether the task goes on here', { unsent: true });
  };

  private async proveClaim(): Promise<void> {
    try {
      await this.prove();
    } catch (cause) {
      throw new AgentCallError('aborted', 'the task goes on elsewhere', { cause, unsent: true });
    }
  }
}
