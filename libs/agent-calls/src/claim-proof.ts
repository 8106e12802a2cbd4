import { AgentCallError } from '#libs/a2a-client';

/**
 * How old the proof may be that a Task is still this replica's when a call of it leaves the process. A replica that stands
 * still for ten seconds, or loses its session, is taken over, and may wake with a call decided long before.
 */
const PROOF_MS = 1_000;
/** How long its answer may take, from the question on: a slow database lets calls out all the same. */
const ANSWER_MS = 5_000;
/** An answer may be late because this process stood still, or the database is busy: two minutes of that pass by. */
const MOST_QUESTIONS = 24;

/** Lets a call of a Task out only as long as the Task is this replica's. */
export class ClaimProof {
  /**
   * @param provenAt a time (`performance.now()`) after which the store took an event of this execution
   * @param prove throws where the Task is another's by now
   */
  constructor(
    private provenAt: number,
    private readonly prove: () => Promise<void>,
  ) {}

  /** @throws AgentCallError `aborted` where the Task is no longer this replica's, `timeout` where that is not known in time */
  readonly renew = async (): Promise<void> => {
    if (performance.now() - this.provenAt <= PROOF_MS) return;
    for (let questions = 0; questions < MOST_QUESTIONS; questions += 1) {
      const asked = performance.now();
      await this.ask();
      this.provenAt = asked;
      if (performance.now() - asked < ANSWER_MS) return;
    }
    throw new AgentCallError('timeout', 'it was not known in time whether the task goes on here', { unsent: true });
  };

  private async ask(): Promise<void> {
    try {
      await this.prove();
    } catch (cause) {
      throw new AgentCallError('aborted', 'the task goes on elsewhere', { cause, unsent: true });
    }
  }
}
