import type { BrainstormPass } from './brainstorm.js';

export interface ConfidencePoint {
  iteration: number;
  /** Confidence after the pass, from 0 to 1. */
  confidence: number;
  x: number;
  y: number;
}

/**
 * Returns the confidence after each complete pass as a point in a box of the given size. The y axis points down. A
 * single point is placed in the middle.
 */
export function confidencePoints(passes: readonly BrainstormPass[], width: number, height: number): ConfidencePoint[] {
  const complete = passes.flatMap(({ iteration, confidence }) =>
    confidence === undefined ? [] : [{ iteration, confidence }],
  );
  const step = complete.length > 1 ? width / (complete.length - 1) : 0;
  return complete.map(({ iteration, confidence }, index) => ({
    iteration,
    confidence,
    x: complete.length === 1 ? width / 2 : index * step,
    y: height * (1 - Math.min(1, Math.max(0, confidence))),
  }));
}

/** Returns a sentence with the first and last confidence, for people who cannot see the chart. */
export function confidenceSentence(points: readonly ConfidencePoint[]): string {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last) return 'No iteration is complete yet.';
  if (points.length === 1) return `Confidence ${first.confidence.toFixed(2)} after iteration ${first.iteration}.`;
  return `Confidence from ${first.confidence.toFixed(2)} after iteration ${first.iteration} to ${last.confidence.toFixed(2)} after iteration ${last.iteration}.`;
}
