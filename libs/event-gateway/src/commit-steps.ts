import type { Commit } from '#libs/tasks';
import { encodeCursor, type CursorPlace } from './gateway-cursor.js';

/** Move of a client from one place over one commit. */
export interface CommitStep {
  /** First frame of the commit that a client at the place has not had. */
  readonly begin: number;
  /** Place of a client that has had the whole commit. */
  readonly end: CursorPlace;
  /** Cursor of `end`. */
  readonly endCursor: string;
  /** Returns the cursor of a client that has had the commit's frames before `frame`, and none from it on. */
  cursorBefore(frame: number): string;
}

/** Steps of one commit, by the places they start from. */
interface StepsOfCommit {
  readonly byStart: Map<CursorPlace, CommitStep>;
  /** Places that the steps end at, by cursor: clients that have come to the same place share it from then on. */
  readonly ends: Map<string, CursorPlace>;
}

/**
 * Moves clients from commit to commit. Clients at the same place share the next place and its cursors, which are made
 * once. A step is kept as long as its commit.
 */
export class CommitSteps {
  private readonly steps = new WeakMap<Commit, StepsOfCommit>();

  /** Returns the step of a commit from a place. */
  findStep(commit: Commit, from: CursorPlace): CommitStep {
    let steps = this.steps.get(commit);
    if (!steps) this.steps.set(commit, (steps = { byStart: new Map(), ends: new Map() }));
    let step = steps.byStart.get(from);
    if (!step) steps.byStart.set(from, (step = createStep(commit, from, steps.ends)));
    return step;
  }
}

/** The step refers to no commit: a place that a client keeps must not keep what was committed. */
function createStep(
  { writer, position, committedAt: at }: Commit,
  from: CursorPlace,
  ends: Map<string, CursorPlace>,
): CommitStep {
  const others = new Map(from.partly);
  others.delete(writer);
  const place: CursorPlace = { position: new Map(from.position).set(writer, position), partly: others, at };
  const endCursor = encodeCursor(place);
  const end = ends.get(endCursor) ?? place;
  ends.set(endCursor, end);
  const cursors = new Map<number, string>();
  return {
    begin: from.partly.get(writer) ?? 0,
    end,
    endCursor,
    cursorBefore: (frame) => {
      let cursor = cursors.get(frame);
      if (cursor === undefined) {
        const partly = new Map(from.partly).set(writer, frame);
        cursors.set(frame, (cursor = encodeCursor({ position: from.position, partly, at })));
      }
      return cursor;
    },
  };
}
