import type { Position } from './graph.js';

const RADIUS = 12;
/** Pixels between a node and a line that goes around it. */
const ASIDE = 16;

/** SVG path of an edge's line, and the position of the edge's label. */
export interface EdgePath {
  path: string;
  label: Position;
}

/**
 * Returns a curve from the right side of a node to the left side of another. `aside` is its distance in pixels from the
 * direct line.
 */
export function sidePath(source: Position, target: Position, aside: number): EdgePath {
  const reach = Math.max(40, Math.abs(target.x - source.x) / 2);
  const bend = (aside * 4) / 3;
  const path = `M${formatPoint(source)} C${formatPoint({ x: source.x + reach, y: source.y + bend })} ${formatPoint({ x: target.x - reach, y: target.y + bend })} ${formatPoint(target)}`;
  return { path, label: { x: (source.x + target.x) / 2, y: (source.y + target.y) / 2 + aside } };
}

/**
 * Returns the line of a loop's edge: from the right side of a node, below the loop's nodes, to the left side of an
 * earlier node.
 */
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
  return { path: drawRoundedLine(corners), label: { x: (left + right) / 2, y: bottom } };
}

/** Returns straight lines through points, with rounded corners. */
function drawRoundedLine(points: readonly Position[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  const parts = rest.map((point, index) => {
    const before = points[index] ?? point;
    const after = rest[index + 1];
    if (!after) return `L${formatPoint(point)}`;
    return `L${formatPoint(findCornerPoint(point, before))} Q${formatPoint(point)} ${formatPoint(findCornerPoint(point, after))}`;
  });
  return `M${formatPoint(first)} ${parts.join(' ')}`;
}

/** Returns the point near a corner on the way to another point, where the rounding begins. */
function findCornerPoint(corner: Position, other: Position): Position {
  const [dx, dy] = [other.x - corner.x, other.y - corner.y];
  const length = Math.hypot(dx, dy);
  if (length === 0) return corner;
  const part = Math.min(RADIUS, length / 2) / length;
  return { x: corner.x + dx * part, y: corner.y + dy * part };
}

function formatPoint({ x, y }: Position): string {
  return `${roundToTenth(x)},${roundToTenth(y)}`;
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}
