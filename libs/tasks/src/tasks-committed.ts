/**
 * Event that this process has committed events of Tasks: emitted once per batch, after the readers of its Tasks were
 * woken. It has no content: listeners read the log, and also poll it. Use `@OnEvent` methods as listeners, so that
 * their errors are logged and affect nothing else.
 */
export const TASKS_COMMITTED = 'tasks.committed';
