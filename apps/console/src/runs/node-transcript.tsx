import { useMemo } from 'react';
import { transcriptOf } from '../transcript/transcript.js';
import { TranscriptView } from '../transcript/transcript-view.js';
import { useTaskWork } from '../transcript/use-task-work.js';
import type { WorkEvent } from '../transcript/work-event.js';
import type { NodePicture } from './node-picture.js';

/**
 * What the agent of a node did. The run's events tell its steps; once its Task is known, that tells also every word
 * between them. It must be used for one node and Task alone: give it a key.
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
