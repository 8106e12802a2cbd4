/**
 * Brainstorms that their callers have approved. An approval is a cancel that keeps the result: it is recorded together
 * with the cancel request, and the executing replica reads it when it handles the cancel.
 */
export abstract class Approvals {
  /**
   * Records an approval and the cancel request for its Task, both or neither; resolves when they are durable. Records
   * nothing if a cancel was requested before, or the Task has ended.
   */
  abstract noteApproval(brainstormId: string): Promise<void>;
  abstract isApproved(brainstormId: string): Promise<boolean>;
}
