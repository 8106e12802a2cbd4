import { Bot } from 'lucide-react';
import { partsText } from '../api/parts.js';
import { PartsView } from '../components/parts-view.js';
import { Fold } from './fold.js';
import { StepHead } from './step-head.js';
import { type ModelStep, formatTokens } from './transcript.js';

/**
 * Shows a model's answer with its token counts. The text of an answer is left out while it arrives, since another part
 * of the page shows it. The agent's last answer is folded.
 */
export function ModelStepView({ step, isLast }: { step: ModelStep; isLast: boolean }) {
  const { model, step: number, state, from, to, usage, parts, error, next } = step;
  const text = partsText(parts);
  return (
    <>
      <StepHead
        Icon={Bot}
        color="text-node-agent"
        title={
          <>
            {model} <span className="font-normal text-muted-foreground">step {number}</span>
          </>
        }
        note={usage ? formatTokens(usage) : ''}
        state={state}
        from={from}
        to={to}
      />
      {error !== undefined && (
        <p className="text-sm break-words text-destructive">
          {error}
          {next !== undefined && <span className="text-foreground"> So {next} is asked in its place.</span>}
        </p>
      )}
      {text.trim() !== '' &&
        state !== 'running' &&
        (isLast && state === 'completed' ? (
          <Fold title="Answer" summary={text}>
            <PartsView parts={parts} />
          </Fold>
        ) : (
          <div className={state === 'completed' ? '' : 'opacity-60'}>
            <PartsView parts={parts} />
          </div>
        ))}
    </>
  );
}
