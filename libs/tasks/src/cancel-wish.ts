/** The states in which a Task has ended, as SQL. */
export const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Keeps the wish to cancel the Task `$1`, as TaskStore.requestCancel does: for whoever keeps something with it in the same
 * statement, and may add conditions and what is to be returned.
 */
export const CANCEL_WISH = `
  UPDATE task SET cancel_requested_at = coalesce(cancel_requested_at, now()), wake_at = least(wake_at, now())
  WHERE task_id = $1 AND state NOT IN ${ENDED}`;
