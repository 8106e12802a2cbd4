export {
  endsTurn,
  firstTaskIdOf,
  newTaskId,
  noteOf,
  parkedUntil,
  type PromptNote,
  readWakePayload,
  type RecordedEvent,
  type RelayedTurn,
  type RemoteIds,
  type TaskEvent,
  type TaskQuestion,
  toStreamResponse,
  WAKE,
} from './fold/task-event.js';
export { applyTaskEvent, eventBytes, TaskEventRefused, TaskFold } from './fold/task-fold.js';
export { begunTask, eventsAfter, foldEvents, foldLog, type LogPlace, placeOfEvent, wholeLog } from './fold/fold-log.js';
export { FoldMemory, heapBytes, type KeptFold, KeptFolds } from './fold/fold-memory.js';
export {
  ANONYMOUS_SCOPE,
  ClaimLost,
  type Idempotency,
  type JournalEntry,
  type KeyedRequest,
  type LogAdmission,
  type PageAdmission,
  PreconditionFailed,
  type RenewedClaims,
  type RevisionPrecondition,
  type StoredTask,
  type TaskClaim,
  type TaskFilter,
  type TaskHeader,
  type TaskLog,
  type TaskPage,
  type TaskQuery,
  type TaskScope,
  TaskStore,
} from './store/task-store.js';
export { CANCEL_WISH, TASKS_UNDER_WAY } from './store/task-rows.js';
export { PostgresTaskStore } from './store/postgres-task-store.js';
export { TASK_MIGRATIONS } from './migrations/task-migrations.js';
export { DailyBudgets } from './budget/daily-budgets.js';
export {
  type BudgetLimits,
  type BudgetState,
  type BudgetUnit,
  type BudgetAdmission,
  describeExceeded,
  type ExceededBudget,
  RunBudgets,
} from './budget/run-budgets.js';
export { TaskMetrics } from './task-metrics.js';
export { TaskJournal } from './journal/task-journal.js';
export { TaskFeed, type TaskFollower } from './feed/task-feed.js';
export { TaskRecorder, TaskRecording } from './journal/task-recording.js';
export { type Commit, type CommitPosition, COMMITS_KEPT_MS, type CommittedEvent } from './feed/commit-log.js';
export { PostgresCommitLog } from './feed/postgres-commit-log.js';
export { CommitFeed } from './feed/commit-feed.js';
export { CountFoldingJob, TaskCounts } from './store/task-counts.js';
export { TaskEndings } from './store/task-endings.js';
export { ENDED_TASK, IS_TOP_RUN, TASK_OUTCOME } from './store/task-queries.js';
export { CommitForgetJob, TaskPurge, TaskPurgeJob } from './retention/task-purge.js';
export { TaskRetention } from './retention/task-retention.js';
export { type OpenQuestion, type QuestionPosition, TaskQuestions } from './store/task-questions.js';
export {
  type SpentTask,
  type TaskUsageSums,
  TaskUsage,
  type UsageGrouping,
  UsageMergeJob,
  type UsageSums,
} from './store/task-usage.js';
export { TaskTextSearch, type TextMatch } from './store/task-text-search.js';
export { TaskLogPages } from './store/task-log-pages.js';
export { type KeptCall, type KeptCallTexts, KeptPrompts } from './prompts/kept-prompts.js';
export { PromptLog } from './prompts/prompt-log.js';
export { TaskPrompts } from './prompts/prompt-log.js';
export { TasksModule } from './tasks.module.js';
