import type { Commit } from '#libs/tasks';
import { CommitSteps } from './event-gateway.js';
import { type CursorPlace, decodeCursor, encodeCursor } from './gateway-cursor.js';

const AT = new Date('2026-11-29T12:00:00Z');
const LATER = new Date('2026-11-29T12:00:01Z');

function commitOf(writer: string, position: bigint): Commit {
  return { writer, position, committedAt: LATER, events: [] } as unknown as Commit;
}

function placeOf(position: [string, bigint][], partly: [string, number][] = [], at = AT): CursorPlace {
  return { position: new Map(position), partly: new Map(partly), at };
}

describe('CommitSteps', () => {
  it('moves a client to the end of a commit, and keeps what it has had of other writers', () => {
    const { begin, end, endCursor } = new CommitSteps().findStep(
      commitOf('a', 4n),
      placeOf(
        [
          ['a', 3n],
          ['b', 7n],
        ],
        [
          ['a', 2],
          ['b', 5],
        ],
      ),
    );
    expect([begin, end]).toEqual([
      2,
      placeOf(
        [
          ['a', 4n],
          ['b', 7n],
        ],
        [['b', 5]],
        LATER,
      ),
    ]);
    expect(decodeCursor(endCursor)).toEqual(end);
  });

  it('names the place of a client that has had a part of a commit', () => {
    const step = new CommitSteps().findStep(commitOf('a', 4n), placeOf([['a', 3n]]));
    const expected = placeOf([['a', 3n]], [['a', 6]], LATER);
    expect([step.begin, step.cursorBefore(6)]).toEqual([0, encodeCursor(expected)]);
    expect(step.cursorBefore(7)).not.toBe(step.cursorBefore(6));
  });

  it('gives clients that come to the same place one place', () => {
    const steps = new CommitSteps();
    const [first, second] = [commitOf('a', 4n), commitOf('a', 5n)];
    const [ann, bob] = [AT, LATER].map((at) => steps.findStep(first, placeOf([['a', 3n]], [], at)).end);
    expect(ann).toBe(bob);
    expect(steps.findStep(second, ann!)).toBe(steps.findStep(second, bob!));
    const eve = steps.findStep(
      first,
      placeOf([
        ['a', 3n],
        ['b', 1n],
      ]),
    ).end;
    expect(eve).not.toBe(ann);
  });
});
