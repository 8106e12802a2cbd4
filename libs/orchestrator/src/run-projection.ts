import type { RecordedEvent, TaskHeader } from '#libs/tasks';
import { isRun, workflowOf } from './api/run-task.js';
import { type StreamedRunEvent, toRunEvent } from './run-event.js';

/** Steps of the stream `tool`, which subscribers request separately. */
const TOOL_STEPS: ReadonlySet<string> = new Set(['tool.call', 'tool.called', 'tool.result', 'tool.canceled']);

/** Returns the event for the event gateway: in the stream `run` or `tool`; `undefined` for other Tasks. */
export function runProjection(
  recorded: RecordedEvent & { header: TaskHeader },
): { stream: 'run' | 'tool'; event: StreamedRunEvent; runId: string } | undefined {
  if (!isRun(recorded.header)) return undefined;
  const event = toRunEvent(recorded, { workflow: workflowOf(recorded.header) });
  return { stream: TOOL_STEPS.has(event.type) ? 'tool' : 'run', event, runId: recorded.taskId };
}
