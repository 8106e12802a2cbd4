import type { Task } from '#libs/protocol';
import type { LiveEvents } from './live-events.js';

/** A Task that this process accepted and executes. */
export interface Execution {
  readonly taskId: string;
  readonly contextId: string;
  /** The Task as it was accepted and the sequence it reflects; resolves when that is durable. */
  readonly accepted: Promise<{ task: Task; sequence: number }>;
  /** The same, before it is durable. */
  readonly begunAs: { task: Task; sequence: number };
  /**
   * What is recorded after the acceptance, before it is durable, for one reader in this process (see LiveEvents). Ends
   * with the terminal or waiting state, or where this process stops working on the Task. Only for calls with a `parent`.
   */
  readonly live: LiveEvents | undefined;
  /**
   * The Task in its terminal or waiting state; resolves when that is durable.
   * Rejects with ExecutionInterrupted when this process stops working on it before.
   */
  readonly settled: Promise<Task>;
}

/** This process no longer executes the Task (shutdown, or its claim was lost); another one will, or does. */
export class ExecutionInterrupted extends Error {
  override readonly name = 'ExecutionInterrupted';
}
