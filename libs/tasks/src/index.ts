export { type RecordedEvent, type TaskEvent, toStreamResponse } from './task-event.js';
export {
  type JournalEntry,
  type JournalOutcome,
  type StoredTask,
  type TaskClaim,
  type TaskHeader,
  type TaskQuery,
  type TaskScope,
  TaskStore,
} from './task-store.js';
