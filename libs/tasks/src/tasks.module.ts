import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { InFlight } from '#libs/service';
import { AskedQuestions } from './asked-questions.js';
import { CommitFeed } from './commit-feed.js';
import { CommitLog } from './commit-log.js';
import { SettledTasks } from './settled-tasks.js';
import { PostgresCommitLog } from './postgres-commit-log.js';
import { FoldMemory } from './fold-memory.js';
import { TaskMetrics } from './task-metrics.js';
import { PostgresTaskStore } from './postgres-task-store.js';
import { TaskCounts } from './task-counts.js';
import { TaskFacts } from './task-facts.js';
import { TaskFeed } from './task-feed.js';
import { TaskEventView } from './task-event-view.js';
import { TaskJournal } from './task-journal.js';
import { TaskLogPages } from './task-log-pages.js';
import { TaskQuestions } from './task-questions.js';
import { TaskRecorder } from './task-recorder.js';
import { TaskRetention } from './task-retention.js';
import { TaskRow } from './task-row.js';
import { TaskStore } from './task-store.js';

/** Tasks on PostgreSQL: log, feed, journal and store. Needs the base modules. */
@Module({
  imports: [TypeOrmModule.forFeature([TaskRow, TaskEventView])],
  providers: [
    { provide: TaskStore, useClass: PostgresTaskStore },
    { provide: CommitLog, useClass: PostgresCommitLog },
    { provide: FoldMemory, useFactory: (inFlight: InFlight) => new FoldMemory(inFlight), inject: [InFlight] },
    AskedQuestions,
    CommitFeed,
    SettledTasks,
    TaskCounts,
    TaskMetrics,
    TaskFacts,
    TaskJournal,
    TaskFeed,
    TaskLogPages,
    TaskQuestions,
    TaskRecorder,
    TaskRetention,
  ],
  exports: [
    TaskStore,
    CommitLog,
    CommitFeed,
    FoldMemory,
    TaskCounts,
    TaskFeed,
    TaskLogPages,
    TaskQuestions,
    TaskRecorder,
    TaskRetention,
  ],
})
export class TasksModule {}
