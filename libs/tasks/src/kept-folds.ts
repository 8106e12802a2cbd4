import { FoldMemory, type HeldFold } from './fold-memory.js';
import type { LogPlace } from './log-place.js';
import type { TaskHeader } from './task-store.js';

/** Result of folding a Task's log up to a place. */
export interface KeptFold<State> {
  readonly state: State;
  readonly place: LogPlace;
}

/**
 * Folds of waiting processes in the memory of this replica, so that a process that resumes need not fold its log again.
 * - A fold is never a source of truth: its user verifies the place against the log, and folds the log otherwise.
 * - A fold has one owner: an execution takes it out, and stores it again when its turn is durable.
 * - `FoldMemory` bounds the folds of all caches, and evicts them.
 */
export class KeptFolds<State> {
  private readonly folds = new Map<string, { fold: KeptFold<State>; held: HeldFold }>();

  constructor(private readonly memory = new FoldMemory()) {
    memory.attachCache(this);
  }

  get size(): number {
    return this.folds.size;
  }

  /** Returns the fold of a Task without removing it. */
  get(taskId: string): KeptFold<State> | undefined {
    this.memory.relieveMemory();
    return this.folds.get(taskId)?.fold;
  }

  /** Removes the fold of a Task and returns it. */
  takeFold(taskId: string): KeptFold<State> | undefined {
    const found = this.folds.get(taskId);
    if (!found) return undefined;
    this.folds.delete(taskId);
    this.memory.releaseFold(found.held);
    return found.fold;
  }

  /** Stores the fold of a Task, replacing the previous one, if there is room. */
  keepFold(of: Pick<TaskHeader, 'taskId' | 'tenant' | 'owner'>, weight: number, fold: KeptFold<State>): void {
    this.takeFold(of.taskId);
    const held = this.memory.holdFold(of, weight, () => this.takeFold(of.taskId));
    if (held) this.folds.set(of.taskId, { fold, held });
  }

  /** Drops all folds. */
  clear(): void {
    for (const taskId of this.folds.keys()) this.takeFold(taskId);
  }
}
