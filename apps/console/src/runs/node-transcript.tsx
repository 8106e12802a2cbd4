import { useMemo } from 'react';
import type { PromptAction } from '../transcript/prompt-folds.js';
import { transcriptOf } from '../transcript/transcript.js';
import { TranscriptView } from '../transcript/transcript-view.js';
import { useTaskWork } from '../transcript/use-task-work.js';
import type { WorkEvent } from '../transcript/work-event.js';
import type { NodePicture } from './node-picture.js';

interface NodeTranscriptProps {
  node: NodePicture;
  promptAction: PromptAction | undefined;
}

/**
 * Shows the transcript of a node's agent. The steps come from the run's events; the texts between them are added once
 * the agent's Task is read. The component needs a React `key` per node and Task.
 */
export function NodeTranscript({ node: { work, taskId, type }, promptAction }: NodeTranscriptProps) {
  if (!work) return null;
  if (taskId === undefined || type === 'external') return <OfRun work={work} />;
  return <OfTask taskId={taskId} work={work} promptAction={promptAction} />;
}

function OfRun({ work }: { work: readonly WorkEvent[] }) {
  return <TranscriptView transcript={useMemo(() => transcriptOf(work), [work])} />;
}

interface OfTaskProps {
  taskId: string;
  work: readonly WorkEvent[];
  promptAction: PromptAction | undefined;
}

function OfTask({ taskId, work, promptAction }: OfTaskProps) {
  const { transcript, isRead, error } = useTaskWork(taskId);
  return isRead && error === undefined ? (
    <TranscriptView transcript={transcript} taskId={taskId} promptAction={promptAction} />
  ) : (
    <OfRun work={work} />
  );
}
