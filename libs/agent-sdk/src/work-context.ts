/** JSON value. */
export type Json = string | number | boolean | null | Json[] | { [member: string]: Json };

/** JSON object, such as a JSON Schema. */
export type JsonMembers = { [member: string]: Json };

/** A2A Part (1.0, section 4.1.6): exactly one of `text`, `raw` (base64), `url` and `data` is present. */
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

/** Artifact that work yields or returns; `ctx.artifact` creates one. */
export interface ArtifactOutput {
  readonly artifact: string;
  readonly content: ArtifactContent;
}

/** Context that the function of a step receives. */
export interface Step {
  /**
   * Idempotency key of the step, the same in every execution of the Task. A receiver that honors the key does the work
   * once, even if a crash interrupted the step and the step is repeated.
   */
  readonly idempotencyKey: string;
  /** Signal of the WorkContext. */
  readonly signal: AbortSignal;
}

/**
 * Context of the function that works on a Task (`run`).
 * - The function runs from its beginning again after a crash, and after an answer to its question.
 * - `step` and `ask` then return the recorded results and answers.
 * - Output that was recorded before is not sent twice.
 */
export interface WorkContext {
  readonly taskId: string;
  readonly contextId: string;
  /** First Message of the Task. */
  readonly message: ReceivedMessage;
  /** Text of `message`; `''` if the Message has no text. */
  readonly text: string;
  /** Value of the first data Part of `message`, if any. */
  readonly data: Json | undefined;
  /**
   * Signal that aborts when the Task is canceled, the process stops, or this execution ends. A question also ends the
   * execution.
   */
  readonly signal: AbortSignal;

  /**
   * Runs a step and returns its result, converted to JSON.
   * - The result is recorded before it is returned, and a recorded step is not repeated.
   * - A step that a crash interrupted runs again.
   * - Every execution must reach the same steps and questions in the same order, with the same keys; otherwise the Task
   *   fails.
   * - Steps do not nest.
   * @throws Failure if the function threw a Failure, else StepError if it threw any other error; the error is recorded
   * too
   */
  step<T>(key: string, work: (step: Step) => T | Promise<T>): Promise<T>;

  /** Asks the caller a question (INPUT_REQUIRED), and returns the text of the answer. The wait has no time limit. */
  ask(text: string): Promise<string>;
  /**
   * Asks the caller for data that conforms to a form, a JSON Schema (draft 7). An answer that does not conform is
   * rejected, and the question is asked again.
   */
  ask<T extends Json = Json>(text: string, form: JsonMembers): Promise<T>;

  /** Creates an Artifact to yield or return. A later Artifact of the same name replaces it. */
  artifact(name: string, content: ArtifactContent): ArtifactOutput;

  /** Ends the Task as REJECTED with a message that callers see: `return ctx.reject('…')`. */
  reject(reason: string): never;
  /** Ends the Task as FAILED with a message that callers see: `return ctx.fail('…')`. */
  fail(reason: string): never;
}

/** Output that work yields: an Artifact, or text that is appended to the text before it. */
export type Output = string | ArtifactOutput;

/** Result of `run`: either an iterable of outputs, or a promise of one output or of any other JSON value. */
export type Work = AsyncIterable<Output> | Promise<Output | Json | undefined | void>;
