export { parkedUntil, type RecordedEvent, type TaskEvent, type TaskQuestion, toStreamResponse } from './task-event.js';
export { readWakePayload, WAKE } from './wake-job.js';
export { applyTaskEvent, TaskEventRefused, TaskFold } from './task-fold.js';
export { begunTask, foldEvents, foldLog } from './fold-log.js';
export { wholeLog } from './whole-log.js';
export { FoldMemory } from './fold-memory.js';
export { heapBytes } from './heap-bytes.js';
export { type KeptFold, KeptFolds } from './kept-folds.js';
export { eventsAfter, type LogPlace, placeOfEvent } from './log-place.js';
export { eventBytes } from './log-size.js';
export { firstTaskIdOf, newTaskId } from './task-id.js';
export {
  ANONYMOUS_SCOPE,
  type Idempotency,
  type JournalEntry,
  type KeyedRequest,
  type LogAdmission,
  type PageAdmission,
  type RevisionPrecondition,
  type StoredTask,
  type RenewedClaims,
  type TaskClaim,
  type TaskFilter,
  type TaskHeader,
  type TaskLog,
  type TaskPage,
  type TaskQuery,
  type TaskScope,
  TaskStore,
} from './task-store.js';
export { CANCEL_WISH } from './cancel-wish.js';
export { TASKS_UNDER_WAY } from './tasks-under-way.js';
export { PostgresTaskStore } from './postgres-task-store.js';
export { TASK_MIGRATIONS } from './task-migrations.js';
export { TaskMetrics } from './task-metrics.js';
export { TaskJournal } from './task-journal.js';
export { TaskFeed } from './task-feed.js';
export type { TaskFollower } from './task-follower.js';
export { ClaimLost, PreconditionFailed } from './claim-lost.js';
export { TaskRecording } from './task-recording.js';
export { TaskRecorder } from './task-recorder.js';
export { COMMITS_KEPT_MS, type Commit, type CommitPosition, type CommittedEvent } from './commit-log.js';
export { PostgresCommitLog } from './postgres-commit-log.js';
export { CommitFeed } from './commit-feed.js';
export { CountFoldingJob } from './count-folding-job.js';
export { CommitForgetJob } from './commit-forget-job.js';
export { TaskCounts } from './task-counts.js';
export { type OpenQuestion, type QuestionPosition, TaskQuestions } from './task-questions.js';
export { TaskLogPages } from './task-log-pages.js';
export { TaskPurge, TaskPurgeJob } from './task-purge.js';
export { TaskRetention } from './task-retention.js';
export { TasksModule } from './tasks.module.js';
