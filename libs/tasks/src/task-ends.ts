import { Injectable } from '@nestjs/common';
import { isTerminalState, type TaskState } from '#libs/protocol';
import type { JournalEntry, TaskHeader } from './task-store.js';

/** The end of a Task, as this process committed it. */
export interface TaskEnd {
  header: TaskHeader;
  state: TaskState;
  at: Date;
}

/**
 * Tells of the ends of Tasks, each once over all processes: here, where it was this one that wrote it. Whoever listens is
 * called when the end is durable, on the way of what comes next, and must neither fail nor take time.
 */
@Injectable()
export class TaskEnds {
  private readonly listeners: ((end: TaskEnd) => void)[] = [];

  listen(listener: (end: TaskEnd) => void): void {
    this.listeners.push(listener);
  }

  /** An entry was written. */
  written({ state, updatedAt: at }: Pick<JournalEntry, 'state' | 'updatedAt'>, header: TaskHeader): void {
    if (this.listeners.length === 0 || !isTerminalState(state)) return;
    for (const listener of this.listeners) listener({ header, state, at });
  }
}
