import { useEffectEvent, useLayoutEffect } from 'react';
import { partsText } from '../api/parts.js';
import { LiveText } from '../components/live-text.js';
import { Loading } from '../components/loading.js';
import { doingNow } from '../transcript/transcript.js';
import { Fold } from '../transcript/fold.js';
import { TranscriptView } from '../transcript/transcript-view.js';
import { useTaskWork } from '../transcript/use-task-work.js';

/**
 * Shows the current step of the running turn, and the turn's text as it arrives. It is not rendered for the turn of a
 * remote agent, whose Task this service does not store.
 */
export function TurnUnderWay({ taskId, name, onGrow }: { taskId: string; name: string; onGrow: () => void }) {
  const { transcript } = useTaskWork(taskId);
  const text = partsText(transcript.parts);
  const grown = useEffectEvent(onGrow);
  useLayoutEffect(() => grown(), [text]);
  const doing = doingNow(transcript);
  return (
    <>
      {doing !== undefined && <p className="mb-1 px-1 text-xs text-muted-foreground">{doing}</p>}
      {text.trim() !== '' && <LiveText text={text} label={`What ${name} says`} />}
    </>
  );
}

/** Shows the steps of an agent in its turn. They are loaded when the person opens them. */
export function TurnTranscript({ taskId }: { taskId: string }) {
  return (
    <Fold title="Steps" summary="">
      <Read taskId={taskId} />
    </Fold>
  );
}

function Read({ taskId }: { taskId: string }) {
  const { transcript, isRead, error } = useTaskWork(taskId);
  if (!isRead && error === undefined) return <Loading />;
  if (transcript.steps.length === 0) return <p className="text-xs text-muted-foreground">It reported no step.</p>;
  return <TranscriptView transcript={transcript} taskId={taskId} />;
}
