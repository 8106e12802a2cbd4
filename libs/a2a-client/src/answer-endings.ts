import { isTerminalState, type StreamResponse, type Task } from '#libs/protocol';
import type { AnswerSize } from './answer-limits.js';

type TaskReading = (taskId: string) => Promise<Task>;

/**
 * Completes the answer of a turn that has ended. Reads and yields the Task after its end in two cases: the stream had
 * only updates of a Task that existed before, or it had no content, since some agents send Artifacts after the end.
 * @param isWhole true if the stream reported the whole Task, or the Message created the Task
 * @param event last event of the turn
 * @throws AgentCallError `invalid-response` if nothing of the answer could be read
 */
export async function* completeAnswer(
  isWhole: boolean,
  event: StreamResponse,
  size: AnswerSize,
  readTask: TaskReading,
): AsyncIterable<StreamResponse> {
  const { taskId, status } = 'statusUpdate' in event ? event.statusUpdate : { taskId: '', status: undefined };
  const isSilent = status?.state === 'TASK_STATE_COMPLETED' && !size.hasContent;
  if (status && isTerminalState(status.state) && (isSilent || !isWhole)) {
    const task = await readTask(taskId).catch(() => undefined);
    if (task && isTerminalState(task.status.state) && task.artifacts) {
      size.countResponse({ task });
      yield { task };
    }
  }
  size.requireContent();
}

/**
 * Returns the Task in place of the status that ends a resumed stream with appended Parts: some agents repeat events
 * that the snapshot at the beginning of the stream contains. Returns the event itself if the Task cannot be read, or
 * does not have that status yet.
 */
export async function readEnd(event: StreamResponse, size: AnswerSize, readTask: TaskReading): Promise<StreamResponse> {
  if (!('statusUpdate' in event)) return event;
  const { taskId, status, metadata } = event.statusUpdate;
  const task = await readTask(taskId).catch(() => undefined);
  if (task?.status.state !== status.state) return event;
  size.countResponse({ task });
  return { task: { ...task, status, ...(metadata && { metadata: { ...task.metadata, ...metadata } }) } };
}
