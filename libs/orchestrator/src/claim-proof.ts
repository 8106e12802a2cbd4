import { AgentCallError } from '#libs/a2a-client';

/**
 * How old the proof may be that a run is still this replica's when a call of it leaves the process. A replica that stands
 * still for ten seconds, or loses its session, is taken over, and may wake with a call decided long before.
 */
const PROOF_MS = 1_000;

/** Lets the calls of a run out only as long as the run is this replica's. */
export class ClaimProof {
  /**
   * @param provenAt a time (`performance.now()`) after which the store took an event of this execution
   * @param prove throws where the run is another's by now
   */
  constructor(
    private provenAt: number,
    private readonly prove: () => Promise<void>,
  ) {}

  /** @throws AgentCallError `aborted` where the run is no longer this replica's */
  readonly renew = async (): Promise<void> => {
    while (performance.now() - this.provenAt > PROOF_MS) {
      const asked = performance.now();
      try {
        await this.prove();
      } catch (cause) {
        throw new AgentCallError('aborted', 'the run goes on elsewhere', { cause, unsent: true });
      }
      this.provenAt = asked;
    }
  };
}
