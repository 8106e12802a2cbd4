import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InFlight } from '#libs/service';
import { DailyBudgets } from './budget/daily-budgets.js';
import { RunBudgets } from './budget/run-budgets.js';
import { CommitFeed } from './feed/commit-feed.js';
import { CommitLog } from './feed/commit-log.js';
import { PostgresCommitLog } from './feed/postgres-commit-log.js';
import { TaskFeed } from './feed/task-feed.js';
import { FoldMemory } from './fold/fold-memory.js';
import { TaskJournal } from './journal/task-journal.js';
import { TaskRecorder } from './journal/task-recording.js';
import { TaskPrompts } from './prompts/prompt-log.js';
import { TaskRetention } from './retention/task-retention.js';
import { PostgresTaskStore } from './store/postgres-task-store.js';
import { TaskCounts } from './store/task-counts.js';
import { TaskEndings } from './store/task-endings.js';
import { TaskLogPages } from './store/task-log-pages.js';
import { TaskQuestions } from './store/task-questions.js';
import { TaskEventView, TaskRow } from './store/task-rows.js';
import { TaskStore } from './store/task-store.js';
import { TaskTextSearch } from './store/task-text-search.js';
import { TaskUsage } from './store/task-usage.js';
import { AskedQuestions, SettledTasks, TaskFacts, TaskMetrics, UsageMetrics } from './task-metrics.js';

/** Module of Tasks on PostgreSQL: log, feed, journal and store. Needs PostgresModule and ServiceModule. */
@Module({
  imports: [TypeOrmModule.forFeature([TaskRow, TaskEventView])],
  providers: [
    { provide: TaskStore, useClass: PostgresTaskStore },
    { provide: CommitLog, useClass: PostgresCommitLog },
    { provide: FoldMemory, useFactory: (inFlight: InFlight) => new FoldMemory(inFlight), inject: [InFlight] },
    AskedQuestions,
    CommitFeed,
    DailyBudgets,
    RunBudgets,
    SettledTasks,
    TaskCounts,
    TaskEndings,
    TaskMetrics,
    TaskFacts,
    TaskJournal,
    TaskFeed,
    TaskLogPages,
    TaskPrompts,
    TaskQuestions,
    TaskRecorder,
    TaskRetention,
    TaskTextSearch,
    TaskUsage,
    UsageMetrics,
  ],
  exports: [
    TaskStore,
    CommitLog,
    CommitFeed,
    DailyBudgets,
    FoldMemory,
    RunBudgets,
    TaskCounts,
    TaskEndings,
    TaskFeed,
    TaskLogPages,
    TaskPrompts,
    TaskQuestions,
    TaskRecorder,
    TaskRetention,
    TaskTextSearch,
    TaskUsage,
  ],
})
export class TasksModule {}
