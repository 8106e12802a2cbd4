import type { Position } from './graph.js';

const RADIUS = 12;
/** Pixels between a node and the line that goes around it. */
const ASIDE = 16;

/** A line, and the position of its label. */
export interface EdgePath {
  path: string;
  label: Position;
}

/**
 * Returns a curve from the right side of a node to the left side of another, `aside` pixels beside the straight way.
 */
export function sidePath(source: Position, target: Position, aside: number): EdgePath {
  const reach = Math.max(40, Math.abs(target.x - source.x) / 2);
  const bend = (aside * 4) / 3;
  const path = `M${at(source)} C${at({ x: source.x + reach, y: source.y + bend })} ${at({ x: target.x - reach, y: target.y + bend })} ${at(target)}`;
  return { path, label: { x: (source.x + target.x) / 2, y: (source.y + target.y) / 2 + aside } };
}

/** Returns a line from the right side of a node, below the loop's nodes, to the left side of an earlier node. */
export function backPath(source: Position, target: Position, bottom: number): EdgePath {
  const right = source.x + ASIDE;
  const left = target.x - ASIDE;
  const corners = [
    source,
    { x: right, y: source.y },
    { x: right, y: bottom },
    { x: left, y: bottom },
    { x: left, y: target.y },
    target,
  ];
  return { path: rounded(corners), label: { x: (left + right) / 2, y: bottom } };
}

/** Returns straight lines through points, with rounded corners. */
function rounded(points: readonly Position[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const parts = rest.map((point, index) => {
    const before = points[index] ?? point;
    const after = rest[index + 1];
    if (!after) return `L${at(point)}`;
    return `L${at(towards(point, before))} Q${at(point)} ${at(towards(point, after))}`;
  });
  return `M${at(first)} ${parts.join(' ')}`;
}

/** Returns the point near a corner on the way to another point. */
function towards(corner: Position, other: Position): Position {
  const [dx, dy] = [other.x - corner.x, other.y - corner.y];
  const length = Math.hypot(dx, dy);
  if (length === 0) return corner;
  const part = Math.min(RADIUS, length / 2) / length;
  return { x: corner.x + dx * part, y: corner.y + dy * part };
}

function at({ x, y }: Position): string {
  return `${round(x)},${round(y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
