import type { Commit, CommittedEvent, TaskScope } from '#libs/tasks';
import { carriedProjection, type EventProjection, type Projected, taskProjection } from './event-projection.js';

/** Number of places per event, above the number of its frames. */
const FRAMES_OF_EVENT = 64;

/** Frame without its cursor, which differs for each client. */
export interface Frame {
  /** Place of the frame in its commit: it stays the same if other frames were purged. */
  place: number;
  source: CommittedEvent;
  projected: Projected;
  /** JSON of the frame after its cursor, encoded when the first client needs it. */
  readonly tail: string;
}

/** Converts commits to frames: once for all clients of a caller, and only when one of them needs it. */
export class CommitFrames {
  private readonly made = new WeakMap<CommittedEvent, Frame[]>();

  constructor(private readonly projections: readonly EventProjection[]) {}

  /** Returns the frames of a caller's events. */
  framesForCaller({ events }: Commit, { tenant, owner }: TaskScope): readonly Frame[] {
    const frames: Frame[] = [];
    for (const event of events) {
      if (event.header.owner === owner && event.header.tenant === tenant) frames.push(...this.madeOf(event));
    }
    return frames;
  }

  private madeOf(event: CommittedEvent): Frame[] {
    let frames = this.made.get(event);
    if (!frames) this.made.set(event, (frames = this.framesOf(event)));
    return frames;
  }

  private framesOf(source: CommittedEvent): Frame[] {
    return [taskProjection, carriedProjection, ...this.projections].flatMap((project, index) => {
      const projected = project(source);
      return projected ? [frameOf(source, projected, source.place * FRAMES_OF_EVENT + index)] : [];
    });
  }
}

/** Returns the frame's JSON with its cursor, and the id of its subscription, if any. */
export function frameText({ projected, tail }: Frame, cursor: string, subscription?: string): string {
  const id = subscription === undefined ? '' : `,"subscription":${JSON.stringify(subscription)}`;
  return `{"stream":${JSON.stringify(projected.stream)},"cursor":"${cursor}"${id}${tail}`;
}

function frameOf(source: CommittedEvent, projected: Projected, place: number): Frame {
  let tail: string | undefined;
  return {
    place,
    source,
    projected,
    get tail(): string {
      return (tail ??= tailOf(projected));
    },
  };
}

function tailOf(projected: Projected): string {
  // Fields of the frame must not override those of the gateway.
  const {
    stream: _stream,
    cursor: _cursor,
    subscription: _subscription,
    ...fields
  } = projected.event as Record<string, unknown>;
  const json = JSON.stringify(fields);
  return json === '{}' ? '}' : `,${json.slice(1)}`;
}
