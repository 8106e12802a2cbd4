import { ChevronLeft, ChevronRight } from 'lucide-react';
import { Button } from '../components/button.js';
import { loopsAround } from '../graph/loops.js';
import { getInstanceName } from './causes.js';
import { loopKey, formatInstanceName as instanceName, parseInstanceName } from './instance-name.js';
import type { NodePicture } from './node-picture.js';
import type { RunPicture } from './run-picture.js';

interface IterationStepperProps {
  node: NodePicture;
  picture: RunPicture;
  onSelect: (name: string) => void;
}

/** Shows buttons that step through the iterations of a node, for each loop, outermost first. */
export function IterationStepper({ node, picture, onSelect }: IterationStepperProps) {
  const place = parseInstanceName(getInstanceName(node));
  const loops = loopsAround(picture.graph.edges, node.id);
  return loops.map((loop, depth) => {
    const current = place.path[depth] ?? 1;
    const newest = picture.loops.get(loopKey(loop.edge, place.path.slice(0, depth)))?.iteration ?? current;
    // Iterations of inner loops restart in each iteration of an outer loop.
    const getIterationName = (iteration: number): string => {
      const path = [...place.path.slice(0, depth), iteration, ...place.path.slice(depth + 1).map(() => 1)];
      return instanceName({ ...place, path });
    };
    return (
      <Stepper
        key={loop.edge}
        what={loops.length > 1 ? `Iteration of ${loop.from} to ${loop.to}` : 'Iteration'}
        current={current}
        newest={newest}
        onStep={(iteration) => onSelect(getIterationName(iteration))}
      />
    );
  });
}

interface StepperProps {
  what: string;
  current: number;
  newest: number;
  /** True to show only numbers, without the text around them. */
  short?: boolean;
  onStep: (iteration: number) => void;
}

/** Shows buttons that step to the previous and next iteration. */
export function Stepper({ what, current, newest, short = false, onStep }: StepperProps) {
  return (
    <div role="group" aria-label={what} className="flex items-center gap-1 text-sm">
      <Button
        kind="quiet"
        className="px-1! py-0.5!"
        aria-label="Earlier iteration"
        disabled={current <= 1}
        onClick={() => onStep(current - 1)}
      >
        <ChevronLeft className="size-4" aria-hidden />
      </Button>
      <span className="tabular-nums">{short ? `${current} of ${newest}` : `${what} ${current} of ${newest}`}</span>
      <Button
        kind="quiet"
        className="px-1! py-0.5!"
        aria-label="Later iteration"
        disabled={current >= newest}
        onClick={() => onStep(current + 1)}
      >
        <ChevronRight className="size-4" aria-hidden />
      </Button>
    </div>
  );
}
