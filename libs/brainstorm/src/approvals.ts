/**
 * The brainstorms that their callers have approved. An approval is a cancel that keeps the result: it is noted here
 * first, and whoever executes the brainstorm finds the note when the cancel reaches it.
 */
export abstract class Approvals {
  /** Resolves when durable. */
  abstract approve(brainstormId: string): Promise<void>;
  abstract isApproved(brainstormId: string): Promise<boolean>;
}
