/** JSON value. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };

/** JSON object, such as a JSON Schema. */
export type JsonMembers = { [member: string]: Json };

/** Piece of content (A2A 1.0, section 4.1.6): exactly one of `text`, `raw` (base64), `url` and `data` is present. */
export interface ContentPart {
  text?: string;
  raw?: string;
  url?: string;
  data?: Json;
  mediaType?: string;
  filename?: string;
  metadata?: JsonMembers;
}

/** Message as its sender wrote it (A2A 1.0, section 4.1.4). */
export interface ReceivedMessage {
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: 'ROLE_USER' | 'ROLE_AGENT';
  parts: ContentPart[];
  metadata?: JsonMembers;
  extensions?: string[];
  referenceTaskIds?: string[];
}

/** Content of an Artifact: one text, one data value, or Parts. */
export type ArtifactContent =
  | { text: string; description?: string }
  | { data: Json; description?: string }
  | { parts: ContentPart[]; description?: string };

/** Artifact to yield or return. */
export interface ArtifactOutput {
  readonly artifact: string;
  readonly content: ArtifactContent;
}

/** Context of a step's function. */
export interface Step {
  /**
   * Key that is the same each time this step of this Task runs. A receiver that uses it as an idempotency key does the
   * work once, even if a crash interrupted the step.
   */
  readonly idempotencyKey: string;
  /** Signal of the context. */
  readonly signal: AbortSignal;
}

/**
 * Task, as the function that works on it sees it. The function runs from its beginning after a crash and after an
 * answer: results of recorded steps and received answers are returned again, and its output is not sent twice.
 */
export interface WorkContext {
  readonly taskId: string;
  readonly contextId: string;
  /** First Message of the Task. */
  readonly message: ReceivedMessage;
  /** Text of that Message; `''` if it has none. */
  readonly text: string;
  /** Value of its first data Part, if any. */
  readonly data: Json | undefined;
  /**
   * Signal that aborts when the Task is canceled, the process stops, or this execution ends, a pending question
   * included.
   */
  readonly signal: AbortSignal;

  /**
   * Runs a step and returns its result, as JSON.
   * - The result is recorded before it is returned, and the step is not repeated after that.
   * - A step that a crash interrupted runs again.
   * - Steps and questions must come in the same order, with the same keys, in every execution; otherwise the Task
   *   fails.
   * - Steps do not nest.
   * @throws StepError if the function threw, which is recorded as well; Failure if it threw one
   */
  step<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T>;

  /** Asks the caller, and waits as long as it takes (INPUT_REQUIRED). The answer is text. */
  ask(text: string): Promise<string>;
  /**
   * Asks the caller for data that fits a form, a JSON Schema (draft 7). An answer that does not fit is requested again.
   */
  ask<T extends Json = Json>(text: string, form: JsonMembers): Promise<T>;

  /** Returns an Artifact to yield. A later one of the same name replaces it. */
  artifact(name: string, content: ArtifactContent): ArtifactOutput;

  /** Ends the Task as REJECTED: `return ctx.reject('…')`. */
  reject(reason: string): never;
  /** Ends the Task as FAILED with this sentence: `return ctx.fail('…')`. */
  fail(reason: string): never;
}

/** Output while work runs: text, which continues the previous text, and Artifacts. */
export type Output = string | ArtifactOutput;

/** Result of work: what it yields, and what it returns, which may be any JSON. */
export type Work = AsyncIterable<Output> | Promise<Output | Json | undefined | void>;
