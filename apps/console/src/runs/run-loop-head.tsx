import { Repeat } from 'lucide-react';
import { Countdown } from '../graph/card-status.js';
import type { GraphLoop } from '../graph/loops.js';
import { Stepper } from './iteration-stepper.js';
import { type RunPicture, UNREAD } from './run-picture.js';
import { type Shown, shownLoop } from './run-scope.js';

const REASONS: Readonly<Record<string, string>> = {
  exit_when: 'its condition held',
  max: 'it reached its last iteration',
  failure: 'an iteration failed',
};

interface RunLoopHeadProps {
  loop: GraphLoop;
  picture: RunPicture;
  shown: Shown;
  onShow: (key: string, iteration: number) => void;
}

/**
 * Shows the head of a loop's frame in a run: its progress, the reason why it ended, and buttons for earlier iterations.
 */
export function RunLoopHead({ loop, picture, shown, onShow }: RunLoopHeadProps) {
  const { key, run, iteration } = shownLoop(picture, loop, shown);
  if (picture.status === UNREAD) return null;
  const most = loop.settings.max_iterations;
  const why = run?.reason === undefined ? undefined : (REASONS[run.reason] ?? run.reason);
  return (
    <>
      <span
        data-iterations={run ? `${run.iteration}/${most}` : `0/${most}`}
        title={why === undefined ? `Iteration ${run?.iteration ?? 0} of at most ${most}` : `Ended: ${why}`}
        className="flex items-center gap-1 rounded-full border bg-card px-2 py-px font-medium text-primary tabular-nums"
      >
        <Repeat className="size-3" aria-hidden /> {run?.iteration ?? 0}/{most}
      </span>
      {why !== undefined && <span>{why}</span>}
      {run?.at !== undefined && (
        <span>
          next <Countdown until={run.at} />
        </span>
      )}
      {run && run.iteration > 1 && (
        <Stepper
          what={`Iteration from ${loop.from} to ${loop.to}`}
          short
          current={iteration}
          newest={run.iteration}
          onStep={(next) => onShow(key, next)}
        />
      )}
    </>
  );
}
