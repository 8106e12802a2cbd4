import { everyAttempt, placeBar, scaleOf, shownRows, timelineOf } from './gantt.js';
import type { NodePicture } from './node-picture.js';
import type { TimelinePart } from './timeline-parts.js';

const at = (second: number): string => new Date(second * 1000).toISOString();
const node = (id: string, ...spans: [from: number, to?: number][]): NodePicture => ({
  id,
  type: 'agent',
  status: 'running',
  attempts: spans.map(([from, to], index) => ({
    attempt: index + 1,
    startedAt: at(from),
    ...(to !== undefined && { finishedAt: at(to) }),
    status: 'running',
  })),
});
const part = (label: string, from: number, to: number, members: Partial<TimelinePart> = {}): TimelinePart => ({
  kind: 'model',
  node: 'a',
  instance: 'a',
  label,
  from: at(from),
  to: at(to),
  status: 'completed',
  ...members,
});
const closed = (): boolean => false;

describe('timelineOf', () => {
  it('places attempts between the start of the run and its last moment', () => {
    const rows = timelineOf([node('later', [4, 6], [7, 8]), node('first', [0, 4])], [], 99_000);
    const scale = scaleOf(rows, at(0), 99_000);
    expect(scale).toEqual({ begin: 0, end: 8000 });
    const bars = rows.map(({ name, took, spans }) => [name, took, spans.map((span) => placeBar(span, scale, 0))]);
    expect(bars).toEqual([
      ['first', 4000, [{ left: 0, width: 50 }]],
      [
        'later',
        3000,
        [
          { left: 50, width: 25 },
          { left: 87.5, width: 12.5 },
        ],
      ],
    ]);
  });

  it('lets an open attempt last until now, and puts nodes that never started at the end', () => {
    const rows = timelineOf([node('never'), node('runs', [0])], [], 2000);
    expect(scaleOf(rows, at(0), 2000)).toEqual({ begin: 0, end: 2000 });
    expect(rows.map(({ name, took }) => [name, took])).toEqual([
      ['runs', 2000],
      ['never', undefined],
    ]);
  });

  it('gives the shortest attempt a bar that can be seen', () => {
    const rows = timelineOf([node('long', [0, 1000]), node('short', [1000, 1000])], [], 0);
    const bar = rows[1]?.spans.map((span) => placeBar(span, scaleOf(rows, at(0), 0), 0));
    expect(bar).toEqual([{ left: 99.6, width: 0.4 }]);
  });

  it('nests the parts of a node by begin, and names the instance of a part', () => {
    const parts = [part('second', 2, 3), part('first', 0, 1, { instance: 'a@2' })];
    const [row] = timelineOf([node('a', [0, 4])], parts, 0);
    expect(row?.parts.map(({ label, name, took }) => [label, name, took])).toEqual([
      ['a@2: first', 'a@2', 1000],
      ['second', 'a', 1000],
    ]);
  });
});

describe('shownRows', () => {
  const parts = [part('model', 0, 3), part('tool', 3, 4, { status: 'failed', kind: 'tool' })];
  const rows = timelineOf([node('a', [0, 4]), node('b', [0, 2]), node('never')], parts, 0);
  const labels = (shown: readonly { label: string }[]): string[] => shown.map(({ label }) => label);

  it('shows the parts of open nodes', () => {
    expect(labels(shownRows(rows, 'all', closed))).toEqual(['a', 'b', 'never']);
    expect(labels(shownRows(rows, 'all', (name) => name === 'a'))).toEqual(['a', 'model', 'tool', 'b', 'never']);
  });

  it('keeps failed parts with their node', () => {
    expect(labels(shownRows(rows, 'failed', closed))).toEqual(['a', 'tool']);
  });

  it('lists the longest parts first, and a node only if it has none', () => {
    expect(labels(shownRows(rows, 'slowest', closed))).toEqual(['a: model', 'b', 'a: tool']);
    const many = Array.from({ length: 12 }, (_, index) => part(`p${index}`, 0, index));
    const slowest = shownRows(timelineOf([node('a', [0, 12])], many, 0), 'slowest', closed);
    expect(labels(slowest)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((index) => `a: p${index}`));
  });
});

describe('everyAttempt', () => {
  it('puts the iterations of a node in one row, and leaves entries of lists out', () => {
    const [first, second, entry] = [node('a', [0, 1]), node('a', [2, 3]), node('a', [0, 9])];
    const nodes = new Map([['a', second]]);
    const instances = new Map([
      ['a@2', second],
      ['a@1', first],
      ['a@2[0]', entry],
    ]);
    const [all] = everyAttempt({ nodes, instances });
    expect(all?.attempts.map(({ startedAt }) => startedAt)).toEqual([at(0), at(2)]);
  });
});
