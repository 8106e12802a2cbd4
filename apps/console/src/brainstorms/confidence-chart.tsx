import type { BrainstormPass } from './brainstorm.js';
import { confidencePoints, confidenceSentence } from './confidence-line.js';

const WIDTH = 320;
const HEIGHT = 120;
const LEFT = 30;
const EDGE = 12;
const LINES = [0, 0.5, 1];

/** Shows the confidence after each complete pass as a chart, and in a sentence. */
export function ConfidenceChart({ passes }: { passes: readonly BrainstormPass[] }) {
  const points = confidencePoints(passes, WIDTH, HEIGHT);
  const sentence = confidenceSentence(points);
  return (
    <figure className="rounded-md border p-3">
      <svg
        role="img"
        aria-label={sentence}
        viewBox={`${-LEFT} ${-EDGE} ${WIDTH + LEFT + EDGE} ${HEIGHT + 2 * EDGE + 10}`}
        className="w-full text-primary"
      >
        {LINES.map((value) => (
          <g key={value} transform={`translate(0 ${HEIGHT * (1 - value)})`}>
            <line x1={-4} x2={WIDTH} className="stroke-border" />
            <text x={-8} dy="0.32em" textAnchor="end" className="fill-muted-foreground text-[10px]">
              {value.toFixed(1)}
            </text>
          </g>
        ))}
        <polyline
          points={points.map(({ x, y }) => `${x},${y}`).join(' ')}
          fill="none"
          stroke="currentColor"
          strokeWidth={2}
        />
        {points.map(({ iteration, confidence, x, y }) => (
          <g key={iteration}>
            <circle cx={x} cy={y} r={3.5} fill="currentColor">
              <title>{`Iteration ${iteration}: ${confidence.toFixed(2)}`}</title>
            </circle>
            <text x={x} y={HEIGHT + 16} textAnchor="middle" className="fill-muted-foreground text-[10px]">
              {iteration}
            </text>
          </g>
        ))}
      </svg>
      <figcaption className="mt-1 text-xs text-muted-foreground">{sentence}</figcaption>
    </figure>
  );
}
