import type { ArtifactContent, ArtifactOutput, Json, JsonMembers, ReceivedMessage } from './content.js';

/** What a step's function is given. */
export interface Step {
  /**
   * The same each time this step of this Task is made. A receiver that takes it as an idempotency key does the work once
   * even where a crash cut the step in its middle.
   */
  readonly idempotencyKey: string;
  /** As that of the context. */
  readonly signal: AbortSignal;
}

/**
 * One Task, as the function that works on it sees it. The function is executed from its beginning after a crash and after
 * an answer: what its steps gave and what was answered is then given again, and what it said is not said twice.
 */
export interface WorkContext {
  readonly taskId: string;
  readonly contextId: string;
  /** The Message that the Task began with. */
  readonly message: ReceivedMessage;
  /** Its text; `''` where it has none. */
  readonly text: string;
  /** The value of its first data Part; `undefined` where it has none. */
  readonly data: Json | undefined;
  /** Aborts when the Task is canceled, the process stops, or this execution has ended, a question that waits included. */
  readonly signal: AbortSignal;

  /**
   * What the function gives, as JSON: recorded before it is returned, and not done again once it is. A step that a crash
   * cuts is done again. Steps and questions come in the same order, with the same keys, whenever the work is executed;
   * where they do not, the Task fails. They do not nest.
   * @throws StepError where the function threw: recorded as well; Failure where that was one
   */
  step<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T>;

  /** Asks whoever called, and waits however long it takes (INPUT_REQUIRED). The answer is text. */
  ask(text: string): Promise<string>;
  /** The same; the answer is data that fits the form, a JSON Schema (draft 7). One that does not is asked for again. */
  ask<T extends Json = Json>(text: string, form: JsonMembers): Promise<T>;

  /** An Artifact, to be yielded. A later one of the same name replaces it. */
  artifact(name: string, content: ArtifactContent): ArtifactOutput;

  /** Ends the Task as REJECTED: `return ctx.reject('…')`. */
  reject(reason: string): never;
  /** Ends the Task as FAILED with this sentence: `return ctx.fail('…')`. */
  fail(reason: string): never;
}

/** What work says on its way: text, which goes on where the last text ended, and Artifacts. */
export type Output = string | ArtifactOutput;

/** What work comes to: what it yields, and what it returns, which may be any JSON. */
export type Work = AsyncIterable<Output> | Promise<Output | Json | undefined | void>;
