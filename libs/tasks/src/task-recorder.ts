import { Injectable, Logger, Optional } from '@nestjs/common';
import { AppConfig, InFlight } from '#libs/service';
import { TaskFacts } from './task-facts.js';
import { TaskFeed } from './task-feed.js';
import { TaskFold } from './task-fold.js';
import { TaskJournal } from './task-journal.js';
import { type RecordingServices, TaskRecording } from './task-recording.js';
import type { TaskLimits } from './log-size.js';
import { TaskMetrics } from './task-metrics.js';
import type { Idempotency, JournalEntry, StoredTask, TaskHeader } from './task-store.js';

export interface ContinuedRecording {
  idempotency?: Idempotency | undefined;
  waited?: boolean;
  atWork?: boolean;
}

/** The only writer of Tasks: every change of a Task goes through a recording that it opened. */
@Injectable()
export class TaskRecorder {
  private readonly logger = new Logger(TaskRecorder.name);
  private readonly services: RecordingServices;

  constructor(
    journal: TaskJournal,
    feed: TaskFeed,
    inFlight: InFlight,
    config: AppConfig,
    @Optional() facts?: TaskFacts,
    @Optional() metrics?: TaskMetrics,
  ) {
    const limits = limitsOf(config);
    const nearlyFull = ({ taskId, agent }: TaskHeader, bytes: number): void => {
      metrics?.nearlyFull();
      this.logger.warn({ taskId, agent, bytes, limit: limits.log }, 'The log of a task is nearly full (TASK_LIMIT)');
    };
    this.services = { journal, feed, inFlight, limits, nearlyFull, ...(facts && { facts }) };
  }

  /** True if the journal is stalled beyond JOURNAL_STALL_LIMIT, so that nothing new should be accepted. */
  get isStalled(): boolean {
    return this.services.journal.isStalled;
  }

  /** Milliseconds that a new Message may wait for the journal, and those since the journal last wrote. */
  get acceptance(): { readonly limitMs: number; standsStillMs(): number } {
    const { journal } = this.services;
    return { limitMs: journal.stallLimitMs, standsStillMs: () => journal.standsStillMs };
  }

  /** Creates the recording of a new Task, claimed with the token. The first recorded event must be the Task. */
  createRecording(create: NonNullable<JournalEntry['create']>, token: string): TaskRecording {
    return new TaskRecording(this.services, { header: create.header, token, create });
  }

  /**
   * Creates the recording of a Task that was claimed with this token.
   * @param idempotency key of the follow-up Message that the first event accepts
   * @param waited true if the Task has waited before and another process resumed it then
   * @param atWork true if an executor continues it, until the recording settles or fails
   */
  continueRecording(
    stored: StoredTask,
    token: string,
    { idempotency, waited = false, atWork = false }: ContinuedRecording = {},
  ): TaskRecording {
    return new TaskRecording(this.services, {
      header: stored.header,
      token,
      fold: TaskFold.fromTask(stored.task),
      bytes: stored.bytes,
      waited,
      atWork,
      ...(idempotency && { keyed: { header: stored.header, idempotency } }),
    });
  }
}

function limitsOf({ memory, content }: AppConfig): TaskLimits {
  return { event: memory.eventBytes, artifact: content.artifact, log: content.task };
}
