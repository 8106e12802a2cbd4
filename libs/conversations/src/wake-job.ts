import type { Job } from '#libs/jobs';

/** Name of the job that resumes a conversation for a command that arrived while it began to wait. */
export const WAKE = 'conversations.wake';

/** Conversation, and the last command that it knew when it began to wait. */
export interface WakePayload {
  conversationId: string;
  command: number;
}

export function wakeJob(conversationId: string, command: number): Job {
  return { name: WAKE, payload: { conversationId, command } };
}

/** @throws TypeError for a payload of another shape */
export function readWakePayload(payload: unknown): WakePayload {
  const { conversationId, command } = (payload ?? {}) as Record<string, unknown>;
  if (typeof conversationId !== 'string' || typeof command !== 'number')
    throw new TypeError('It names no conversation');
  return { conversationId, command };
}
