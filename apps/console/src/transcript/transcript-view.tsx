import { partsText } from '../api/parts.js';
import { LargeDialog } from '../components/large-dialog.js';
import { LiveText } from '../components/live-text.js';
import { ModelStepView } from './model-step-view.js';
import { type PromptAction, PromptFolds } from './prompt-folds.js';
import { ToolStepView } from './tool-step-view.js';
import { formatTokens, type Transcript } from './transcript.js';

interface TranscriptProps {
  transcript: Transcript;
  /** Task of this service whose prompts are shown; absent: no prompts are shown. */
  taskId?: string | undefined;
  promptAction?: PromptAction | undefined;
}

/** Shows the steps of an agent: its models' answers and its tool calls. */
export function TranscriptView({ transcript, taskId, promptAction }: TranscriptProps) {
  const { steps, usage } = transcript;
  const now = steps.findLast((step) => step.kind === 'model');
  if (steps.length === 0) return null;
  return (
    <section aria-label="Transcript" className="space-y-1">
      <header className="flex items-center gap-2">
        <h3 className="text-sm font-medium">Transcript</h3>
        <span className="grow text-right text-xs text-muted-foreground">{formatTokens(usage)}</span>
        <LargeDialog title="Transcript">
          <Steps transcript={transcript} taskId={taskId} promptAction={promptAction} />
        </LargeDialog>
      </header>
      {now?.kind === 'model' && now.state === 'running' && now.parts.length > 0 && (
        <LiveText text={partsText(now.parts)} label={`What ${now.model} says`} />
      )}
      <Steps transcript={transcript} taskId={taskId} promptAction={promptAction} />
    </section>
  );
}

function Steps({ transcript: { steps }, taskId, promptAction }: TranscriptProps) {
  const last = steps.at(-1);
  return (
    <ol className="divide-y rounded-md border bg-card">
      {steps.map((step) => (
        <li key={step.key} data-step={step.kind} data-state={step.state} className="space-y-1.5 p-2.5">
          {step.kind === 'model' ? <ModelStepView step={step} isLast={step === last} /> : <ToolStepView step={step} />}
          {step.kind === 'model' && taskId !== undefined && (
            <PromptFolds taskId={taskId} step={step} promptAction={promptAction} />
          )}
        </li>
      ))}
    </ol>
  );
}
