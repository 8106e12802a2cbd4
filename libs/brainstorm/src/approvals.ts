/**
 * The brainstorms that their callers have approved. An approval is a cancel that keeps the result: it is noted here with
 * the wish to cancel, and whoever executes the brainstorm finds the note when the cancel reaches it.
 */
export abstract class Approvals {
  /**
   * Resolves when both are durable: the note and the wish to cancel its Task, or neither. Nothing is noted where somebody
   * wished to cancel before, or the Task has ended.
   */
  abstract approve(brainstormId: string): Promise<void>;
  abstract isApproved(brainstormId: string): Promise<boolean>;
}
