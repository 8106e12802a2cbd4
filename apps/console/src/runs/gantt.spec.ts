import { everyAttempt, timelineOf } from './gantt.js';
import type { NodePicture } from './node-picture.js';

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

describe('timelineOf', () => {
  it('places attempts between the start of the run and its last moment', () => {
    const { rows, span } = timelineOf([node('later', [4, 6], [7, 8]), node('first', [0, 4])], at(0), 99_000);
    expect(span).toBe(8000);
    expect(rows.map((row) => [row.node.id, row.bars.map(({ left, width }) => [left, width])])).toEqual([
      ['first', [[0, 50]]],
      [
        'later',
        [
          [50, 25],
          [87.5, 12.5],
        ],
      ],
    ]);
  });

  it('lets what runs last until now, and puts what never started at the end', () => {
    const { rows, span } = timelineOf([node('never'), node('runs', [0])], at(0), 2000);
    expect(span).toBe(2000);
    expect(rows.map(({ node: { id }, bars }) => [id, bars.length])).toEqual([
      ['runs', 1],
      ['never', 0],
    ]);
  });

  it('gives the shortest attempt a bar that can be seen', () => {
    const bar = timelineOf([node('long', [0, 1000]), node('short', [1000, 1000])], at(0), 0).rows[1]?.bars[0];
    expect(bar).toMatchObject({ left: 99.6, width: 0.4 });
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
