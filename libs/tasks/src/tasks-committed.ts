/**
 * The fact that this process has committed events of Tasks: emitted once per batch, after its Tasks' own readers were
 * woken. It says nothing of what was committed: whoever listens reads the log, and looks there by himself from time to
 * time. Listeners are methods with `@OnEvent`, so that what one of them throws is logged and hurts nobody.
 */
export const TASKS_COMMITTED = 'tasks.committed';
