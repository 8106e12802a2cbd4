import type { Artifact, JsonObject, Part, TaskState } from '#libs/protocol';

/** One event of a fake agent's Task. */
export type FakeStep =
  /** `metadata` is the event's, `ofMessage` that of the words. */
  | { status: TaskState; text?: string; metadata?: JsonObject; ofMessage?: JsonObject }
  | { artifact: Partial<Artifact> & { parts: Part[] }; append?: boolean; lastChunk?: boolean }
  | { sleep: number }
  /** Goes on when the test says `release()`, or ends when the Task is canceled. */
  | { hold: true }
  /** Drops the connection without a word, or after this error; the Task goes on. */
  | { cut: true | { code: number; message: string } };

/** How a fake agent answers one Message. */
export type FakeBehaviour =
  /** A Task made by these steps: events where the caller streams, its end where the caller waits. */
  | { steps: FakeStep[] }
  /** A direct Message. */
  | { message: Part[] }
  | { rpcError: { code: number; message: string; data?: JsonObject[] } }
  | { httpStatus: number; headers?: Record<string, string>; body?: string }
  /** Never answers. */
  | { hang: true }
  /** The whole body, instead of anything sensible. */
  | { body: string; contentType?: string }
  /** Waits, then does the other. */
  | { delay: number; then: FakeBehaviour }
  /** Waits until the probe is true, then does the other. */
  | { until: () => boolean; then: FakeBehaviour };

/** A Task with one text Artifact, completed. */
export const answers = (text: string): FakeBehaviour => answersParts({ text, mediaType: 'text/plain' });

/** A Task with one Artifact of these Parts, completed. */
export const answersParts = (...parts: Part[]): FakeBehaviour => ({
  steps: [{ artifact: { parts } }, { status: 'TASK_STATE_COMPLETED' }],
});

/** A Task that ends in a state, with a word about it. */
export const ends = (status: TaskState, text?: string): FakeBehaviour => ({
  steps: [{ status, ...(text !== undefined && { text }) }],
});

/** A Task that works until it is released or canceled, then completes with a text. */
export const holds = (text = 'released'): FakeBehaviour => ({
  steps: [
    { status: 'TASK_STATE_WORKING' },
    { hold: true },
    { artifact: { parts: [{ text }] } },
    { status: 'TASK_STATE_COMPLETED' },
  ],
});

export const after = (delay: number, then: FakeBehaviour): FakeBehaviour => ({ delay, then });

/** Waits for what else happens in the test, so that an order is made and not hoped for. */
export const when = (until: () => boolean, then: FakeBehaviour): FakeBehaviour => ({ until, then });
