import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository, SelectQueryBuilder } from 'typeorm';
import { Database } from '#libs/postgres';
import { MOST_EVENTS } from '../journal/log-row.js';
import { TaskEventView, TaskRow } from './task-rows.js';
import type { TaskScope } from './task-store.js';

/** Maximum bytes of a page; its first event may be larger. */
const PAGE_BYTES = 1024 * 1024;

interface LoggedEvent {
  sequence: number;
  recordedAt: Date;
  /** ProtoJSON StreamResponse, as SubscribeToTask sends it. */
  json: string;
}

export interface TaskLogPage {
  events: LoggedEvent[];
  /** Last sequence of this page, after which the next page starts; absent on the last page. */
  next?: number;
}

/** Reads the log of a Task page by page, for people and tools. (Executors read logs from TaskStore.) */
@Injectable()
export class TaskLogPages {
  constructor(
    private readonly database: Database,
    @InjectRepository(TaskRow) private readonly tasks: Repository<TaskRow>,
    @InjectRepository(TaskEventView) private readonly events: Repository<TaskEventView>,
  ) {}

  /**
   * Returns a page of the events after a sequence; `undefined` if there is no such Task in the scope. A page has at
   * most `limit` events, and at most a megabyte or a single larger event. Reads of long logs by different callers take
   * turns.
   */
  async readPage(scope: TaskScope, taskId: string, after: number, limit: number): Promise<TaskLogPage | undefined> {
    const { tenant, owner } = scope;
    // PostgreSQL rejects text with a null character.
    if (taskId.includes('\0')) return undefined;
    const task = await this.tasks.findOne({
      select: { task_id: true, last_sequence: true },
      where: { task_id: taskId, tenant, owner },
    });
    if (!task) return undefined;
    if (after >= task.last_sequence) return { events: [] };
    return this.database.reads.inTurn(scope, async () => {
      const last = await this.lastOf(taskId, after, limit);
      const events = await this.selectBetween(taskId, after, last)
        .select('event.sequence', 'sequence')
        .addSelect('event.recorded_at', 'recordedAt')
        .addSelect('event.payload::text', 'json')
        .getRawMany<LoggedEvent>();
      return { events, ...(last < task.last_sequence && { next: last }) };
    });
  }

  /** Returns the sequence of the last event of the page that begins after a sequence and has at most `limit` events. */
  private async lastOf(taskId: string, after: number, limit: number): Promise<number> {
    const sizes = await this.selectBetween(taskId, after, after + limit)
      .select('event.sequence', 'sequence')
      .addSelect('octet_length(event.payload::text)', 'bytes')
      .getRawMany<{ sequence: number; bytes: number }>();
    let [last, sum] = [after, 0];
    for (const { sequence, bytes } of sizes) {
      sum += bytes;
      if (sum > PAGE_BYTES && last > after) break;
      last = sequence;
    }
    return last;
  }

  private selectBetween(taskId: string, after: number, last: number): SelectQueryBuilder<TaskEventView> {
    const place = { taskId, after, last, lastRow: last + MOST_EVENTS };
    return this.events
      .createQueryBuilder('event')
      .where('event.task_id = :taskId AND event.sequence > :after AND event.sequence <= :last', place)
      .andWhere('event.row_sequence > :after AND event.row_sequence < :lastRow')
      .orderBy('event.sequence');
  }
}
