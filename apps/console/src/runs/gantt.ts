import { parseInstanceName } from './instance-name.js';
import type { Attempt, NodePicture } from './node-picture.js';
import type { RunPicture } from './run-picture.js';
import type { PartKind, TimelinePart } from './timeline-parts.js';

/** Period that a bar shows: an attempt of a node, or a part of an attempt. */
export interface TimelineSpan {
  from: string;
  /** End in ISO 8601; absent while the period is open. */
  to?: string | undefined;
  status: string;
  label: string;
}

/** A row of a timeline: a node with its attempts, or a part of a node's time, such as a call or a wait. */
export interface TimelineRow {
  key: string;
  /** Name of the node or instance that the row selects. */
  name: string;
  node: string;
  label: string;
  /** Kind of the part that the row shows; absent for the row of a node. */
  kind?: PartKind;
  status: string;
  spans: readonly TimelineSpan[];
  /** Milliseconds of all spans together; absent if nothing started. */
  took?: number;
  error?: string | undefined;
  /** Rows of the node's parts, in the order of their begin. */
  parts: readonly TimelineRow[];
}

/** Filter of a timeline's rows: all rows, failed ones, or the longest ones. */
export type TimelineFilter = 'all' | 'failed' | 'slowest';

/** First and last moment of a timeline, in epoch milliseconds. */
export interface TimelineScale {
  begin: number;
  end: number;
}

const LEAST_WIDTH = 0.4;
const SLOWEST = 10;

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
 * Returns a row for each node, in the order of their begin, with the rows of its parts. An open span lasts until `now`.
 * Nodes that never started come last.
 */
export function timelineOf(
  nodes: readonly NodePicture[],
  parts: readonly TimelinePart[],
  now: number,
): readonly TimelineRow[] {
  const byNode = Map.groupBy(parts, ({ node }) => node);
  const rows = nodes.map((node) => nodeRow(node, byNode.get(node.id) ?? [], now));
  return rows.toSorted(byBegin);
}

function nodeRow({ id, status, attempts, error }: NodePicture, parts: readonly TimelinePart[], now: number) {
  const spans = attempts.map(attemptSpan);
  const rows = parts.map((part, index) => partRow(part, `${id} ${index}`, now)).toSorted(byBegin);
  const row: TimelineRow = { key: id, name: id, node: id, label: id, status, spans, parts: rows, error };
  if (spans.length > 0) row.took = spans.reduce((sum, span) => sum + lengthOf(span, now), 0);
  return row;
}

function attemptSpan({ attempt, startedAt, finishedAt, status }: Attempt): TimelineSpan {
  return { from: startedAt, to: finishedAt, status, label: `Attempt ${attempt}` };
}

function partRow(part: TimelinePart, key: string, now: number): TimelineRow {
  const { kind, node, instance, status, error } = part;
  const label = instance === node || kind === 'entry' ? part.label : `${instance}: ${part.label}`;
  const span = { from: part.from, to: part.to, status, label };
  return { key, name: instance, node, label, kind, status, error, spans: [span], took: lengthOf(span, now), parts: [] };
}

/**
 * Returns the rows to show, including the parts of nodes that the person has opened.
 * - `failed` keeps failed nodes and parts, and the nodes of failed parts.
 * - `slowest` keeps the ten longest rows, the longest first. They are chosen among the parts of nodes other than list
 *   entries, and the nodes that have no such parts.
 * @param isOpen returns true if the person has opened a node
 */
export function shownRows(
  rows: readonly TimelineRow[],
  filter: TimelineFilter,
  isOpen: (node: string) => boolean,
): readonly TimelineRow[] {
  if (filter === 'slowest') return slowestOf(rows);
  if (filter === 'all') return rows.flatMap((row) => [row, ...(isOpen(row.node) ? row.parts : [])]);
  return rows.flatMap((row) => {
    const parts = row.parts.filter(hasFailed);
    return parts.length > 0 || hasFailed(row) ? [row, ...parts] : [];
  });
}

function slowestOf(rows: readonly TimelineRow[]): readonly TimelineRow[] {
  const leaves = rows.flatMap((row) => {
    const parts = row.parts.filter(({ kind }) => kind !== 'entry');
    return parts.length > 0 ? parts.map((part) => ({ ...part, label: `${row.node}: ${part.label}` })) : [row];
  });
  const started = leaves.filter(({ took }) => took !== undefined);
  return started.toSorted((a, b) => (b.took ?? 0) - (a.took ?? 0)).slice(0, SLOWEST);
}

function hasFailed({ status, spans }: TimelineRow): boolean {
  return status === 'failed' || spans.some((span) => span.status === 'failed');
}

/** Returns the scale from the start of the run, or of its first node, to the end of the last span. */
export function scaleOf(rows: readonly TimelineRow[], startedAt: string | undefined, now: number): TimelineScale {
  let begin = Math.min(startedAt === undefined ? now : Date.parse(startedAt), now);
  let end = begin;
  for (const { spans } of rows) {
    for (const span of spans) {
      begin = Math.min(begin, Date.parse(span.from));
      end = Math.max(end, endOf(span, now));
    }
  }
  return { begin, end: Math.max(end, begin + 1) };
}

/** Returns the left edge and the width of a span's bar, in percents of the scale. */
export function placeBar(span: TimelineSpan, { begin, end }: TimelineScale, now: number) {
  const from = Date.parse(span.from);
  const percent = 100 / (end - begin);
  const left = Math.min((from - begin) * percent, 100 - LEAST_WIDTH);
  return { left, width: Math.max((endOf(span, now) - from) * percent, LEAST_WIDTH) };
}

function lengthOf(span: TimelineSpan, now: number): number {
  return endOf(span, now) - Date.parse(span.from);
}

function endOf({ to }: TimelineSpan, now: number): number {
  return to === undefined ? now : Date.parse(to);
}

function byBegin(a: TimelineRow, b: TimelineRow): number {
  return beginOf(a) - beginOf(b);
}

function beginOf({ spans: [first] }: TimelineRow): number {
  return first ? Date.parse(first.from) : Number.MAX_VALUE;
}
