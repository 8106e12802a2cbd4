/** Terminal states of a Task, as SQL. */
export const ENDED = `('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`;

/**
 * Statement that stores a request to cancel the Task `$1`, as TaskStore.requestCancel does. Callers that write more in
 * the same statement may add conditions and a RETURNING clause.
 */
export const CANCEL_WISH = `
  UPDATE task SET cancel_requested_at = coalesce(cancel_requested_at, now()), wake_at = least(wake_at, now())
  WHERE task_id = $1 AND state NOT IN ${ENDED}`;
