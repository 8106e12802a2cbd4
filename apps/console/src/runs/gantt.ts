import { parseInstanceName } from './instance-name.js';
import type { Attempt, NodePicture } from './node-picture.js';
import type { RunPicture } from './run-picture.js';

/** An attempt of a node as a bar; its left edge and width are percents of the time span. */
interface Bar {
  attempt: Attempt;
  left: number;
  width: number;
}

export interface TimelineRow {
  node: NodePicture;
  bars: readonly Bar[];
}

export interface Timeline {
  rows: readonly TimelineRow[];
  /** Milliseconds that the whole width stands for. */
  span: number;
}

const LEAST_WIDTH = 0.4;

/** Returns nodes with the attempts of all their iterations. Attempts of list entries are left out. */
export function everyAttempt({ nodes, instances }: Pick<RunPicture, 'nodes' | 'instances'>): NodePicture[] {
  const iterations = [...instances].filter(([name]) => parseInstanceName(name).index === undefined);
  const byNode = Map.groupBy(iterations, ([, { id }]) => id);
  return [...nodes.values()].map((node) => {
    const all = byNode.get(node.id)?.flatMap(([, { attempts }]) => attempts);
    return all
      ? { ...node, attempts: all.toSorted((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt)) }
      : node;
  });
}

/**
 * Returns a row for each node, with a bar for each of its attempts. A running attempt lasts until `now`. Nodes that
 * never started come last.
 */
export function timelineOf(nodes: Iterable<NodePicture>, startedAt: string | undefined, now: number): Timeline {
  const all = [...nodes];
  const attempts = all.flatMap((node) => node.attempts);
  const begin = Math.min(
    ...[startedAt, ...attempts.map((it) => it.startedAt)].flatMap((at) => (at ? [Date.parse(at)] : [])),
    now,
  );
  const end = Math.max(begin + 1, ...attempts.map((it) => endOf(it, now)));
  const span = end - begin;
  const barOf = (attempt: Attempt): Bar => {
    const left = ((Date.parse(attempt.startedAt) - begin) / span) * 100;
    const width = ((endOf(attempt, now) - Date.parse(attempt.startedAt)) / span) * 100;
    return { attempt, left: Math.min(left, 100 - LEAST_WIDTH), width: Math.max(width, LEAST_WIDTH) };
  };
  const rows = all.map((node) => ({ node, bars: node.attempts.map(barOf) }));
  return { rows: rows.toSorted((a, b) => beginOf(a) - beginOf(b)), span };
}

function endOf({ finishedAt }: Attempt, now: number): number {
  return finishedAt === undefined ? now : Date.parse(finishedAt);
}

function beginOf({ bars }: TimelineRow): number {
  return bars[0]?.left ?? Number.MAX_VALUE;
}
