import { randomUUID } from 'node:crypto';
import type { Message, Task } from '#libs/protocol';

/** Returns a direct answer as a Task that was completed at once. It is not stored. */
export function completedByReply(request: Message, reply: Message, taskId: string): Task {
  return {
    id: taskId,
    contextId: reply.contextId ?? request.contextId ?? randomUUID(),
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: reply.messageId, parts: reply.parts }],
    history: [request],
  };
}
