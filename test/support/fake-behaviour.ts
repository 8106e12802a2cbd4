import type { Artifact, JsonObject, Part, TaskState } from '#libs/protocol';

/** Step of a fake agent's Task. */
export type FakeStep =
  /** Status update. `metadata` belongs to the event, `ofMessage` to its Message. */
  | { status: TaskState; text?: string; metadata?: JsonObject; ofMessage?: JsonObject }
  | { artifact: Partial<Artifact> & { parts: Part[] }; append?: boolean; lastChunk?: boolean }
  | { sleep: number }
  /** Waits until the test calls `release()`; ends the steps if the Task is canceled. */
  | { hold: true }
  /** Closes the connection, either without notice or after this error. The Task continues. */
  | { cut: true | { code: number; message: string } };

/** Answer of a fake agent to one Message. */
export type FakeBehaviour =
  /**
   * Task that goes through these steps: its events for a caller that streams, its last state for a caller that waits.
   */
  | { steps: FakeStep[] }
  /** Answers with a direct Message. */
  | { message: Part[] }
  | { rpcError: { code: number; message: string; data?: JsonObject[] } }
  | { httpStatus: number; headers?: Record<string, string>; body?: string }
  /** Sends no answer. */
  | { hang: true }
  /** Complete body that is sent in place of a valid answer. */
  | { body: string; contentType?: string }
  /** Waits for so many milliseconds, then answers as `then` specifies. */
  | { delay: number; then: FakeBehaviour }
  /** Waits until the function returns true, then answers as `then` specifies. */
  | { until: () => boolean; then: FakeBehaviour };

/** Creates an answer: a completed Task with one text Artifact. */
export const answers = (text: string): FakeBehaviour => answersParts({ text, mediaType: 'text/plain' });

/** Creates an answer: a completed Task with one Artifact of these Parts. */
export const answersParts = (...parts: Part[]): FakeBehaviour => ({
  steps: [{ artifact: { parts } }, { status: 'TASK_STATE_COMPLETED' }],
});

/** Creates an answer: a Task that ends in a state, with a status text. */
export const ends = (status: TaskState, text?: string): FakeBehaviour => ({
  steps: [{ status, ...(text !== undefined && { text }) }],
});

/** Creates an answer: a Task that works until it is released or canceled, then completes with a text. */
export const holds = (text = 'released'): FakeBehaviour => ({
  steps: [
    { status: 'TASK_STATE_WORKING' },
    { hold: true },
    { artifact: { parts: [{ text }] } },
    { status: 'TASK_STATE_COMPLETED' },
  ],
});

export const after = (delay: number, then: FakeBehaviour): FakeBehaviour => ({ delay, then });

/** Creates an answer that waits for another event of the test, so that their order is certain. */
export const when = (until: () => boolean, then: FakeBehaviour): FakeBehaviour => ({ until, then });
