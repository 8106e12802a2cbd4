import { randomUUID } from 'node:crypto';
import type { Message, Task } from '#libs/protocol';

/** Converts a direct answer to a completed Task, which is not stored. */
export function completedByReply(request: Message, reply: Message, taskId: string): Task {
  return {
    id: taskId,
    contextId: reply.contextId ?? request.contextId ?? randomUUID(),
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: reply.messageId, parts: reply.parts }],
    history: [request],
  };
}
