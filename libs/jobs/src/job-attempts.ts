import { Logger } from '@nestjs/common';
import type { JobHelpers, TaskList } from 'graphile-worker';
import { type JobHandler, PermanentJobError } from './job.js';
import type { JobMetrics } from './job-metrics.js';

/** An attempt that was interrupted. */
export interface InterruptedAttempt {
  id: string;
  /** Number of attempts at the job before this one. */
  before: number;
}

/** Attempts at jobs that one pool is running. */
export class JobAttempts {
  private readonly logger = new Logger('Jobs');
  private readonly controller = new AbortController();
  private readonly underWay = new Map<string, InterruptedAttempt>();

  constructor(
    private readonly handlers: ReadonlyMap<string, JobHandler<unknown>>,
    private readonly metrics: JobMetrics,
  ) {}

  /** Returns the task functions that the queue calls, by job name. */
  buildTaskList(): TaskList {
    const entries = [...this.handlers].map(([name, handler]): [string, TaskList[string]] => [
      name,
      (payload, helpers) => this.attemptJob(handler, payload, helpers),
    ]);
    return Object.fromEntries(entries);
  }

  /** Ids of the running jobs. */
  get ids(): string[] {
    return [...this.underWay.keys()];
  }

  /** Aborts the running attempts and returns them. */
  interruptAll(): InterruptedAttempt[] {
    this.controller.abort(new Error('This process stops'));
    return [...this.underWay.values()];
  }

  private async attemptJob(handler: JobHandler<unknown>, payload: unknown, { job }: JobHelpers): Promise<void> {
    const { signal } = this.controller;
    const last = job.attempts >= job.max_attempts;
    this.underWay.set(job.id, { id: job.id, before: job.attempts - 1 });
    try {
      await handler.run(readPayload(handler, payload), { signal, attempt: job.attempts, last });
      this.metrics.countAttempt(job.task_identifier, 'done');
    } catch (error) {
      this.handleFailure(error, job, last);
    } finally {
      this.underWay.delete(job.id);
    }
  }

  /** @throws the error if the queue must retry the job, or keep it as failed */
  private handleFailure(
    error: unknown,
    { id, task_identifier: name, attempts }: JobHelpers['job'],
    last: boolean,
  ): void {
    const facts = { err: error, job: name, id, attempt: attempts };
    if (this.controller.signal.aborted) {
      this.metrics.countAttempt(name, 'interrupted');
      throw error;
    }
    const permanent = error instanceof PermanentJobError;
    this.metrics.countAttempt(name, permanent || last ? 'failed' : 'retried');
    if (!permanent && !last) {
      this.logger.warn(facts, 'A job failed and will be tried again');
      throw error;
    }
    this.logger.error(facts, 'A job failed for good');
    if (!permanent) throw error;
  }
}

function readPayload(handler: JobHandler<unknown>, payload: unknown): unknown {
  try {
    return handler.read(payload);
  } catch (error) {
    throw new PermanentJobError('The payload of a job is not what its handler takes', { cause: error });
  }
}
