import { EmptyState } from '../components/empty-state.js';
import { ErrorState } from '../components/error-state.js';
import { Loading } from '../components/loading.js';
import { TranscriptView } from '../transcript/transcript-view.js';
import { useTaskWork } from '../transcript/use-task-work.js';

/** Shows the transcript of a Task's agent: its steps and texts. The view updates live. */
export function TaskTranscript({ taskId }: { taskId: string }) {
  const { transcript, isRead, error } = useTaskWork(taskId);
  if (error !== undefined) return <ErrorState error={error} />;
  if (!isRead) return <Loading />;
  if (transcript.steps.length === 0) {
    return (
      <EmptyState title="Its agent reports no step">
        Model calls and tool calls appear here if the agent reports them. The events show the rest.
      </EmptyState>
    );
  }
  return (
    <div className="overflow-auto p-4 md:p-6" tabIndex={0} role="region" aria-label="Steps">
      <div className="mx-auto max-w-4xl">
        <TranscriptView transcript={transcript} taskId={taskId} />
      </div>
    </div>
  );
}
