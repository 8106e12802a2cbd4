import { useMemo } from 'react';
import { transcriptOf } from '../transcript/transcript.js';
import { TranscriptView } from '../transcript/transcript-view.js';
import { useTaskWork } from '../transcript/use-task-work.js';
import type { WorkEvent } from '../transcript/work-event.js';
import type { NodePicture } from './node-picture.js';

/**
 * Shows the agent's transcript: the steps from the run's events, and once its Task is read, the texts between them.
 * The component needs a `key` per node and Task.
 */
export function NodeTranscript({ node: { work, taskId, type } }: { node: NodePicture }) {
  if (!work) return null;
  if (taskId === undefined || type === 'external') return <OfRun work={work} />;
  return <OfTask taskId={taskId} work={work} />;
}

function OfRun({ work }: { work: readonly WorkEvent[] }) {
  return <TranscriptView transcript={useMemo(() => transcriptOf(work), [work])} />;
}

function OfTask({ taskId, work }: { taskId: string; work: readonly WorkEvent[] }) {
  const { transcript, isRead, error } = useTaskWork(taskId);
  return isRead && error === undefined ? <TranscriptView transcript={transcript} /> : <OfRun work={work} />;
}
