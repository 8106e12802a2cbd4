import { Inject, Injectable } from '@nestjs/common';
import { PassingText } from '#libs/http-server';
import { InFlight, type WorkTurn, WorkTurns } from '#libs/service';
import { type Commit, CommitFeed, type CommittedEvent, type TaskScope } from '#libs/tasks';
import { type CursorPlace, encodeCursor, knownPlace } from './gateway-cursor.js';
import {
  carriedProjection,
  type EventProjection,
  type EventsQuery,
  type GatewayQuery,
  gatewayQuery,
  type Projected,
  silentQuery,
  taskProjection,
  wantsFrame,
} from './gateway-query.js';

/**
 * Maximum number of frames for one event; each projection makes at most one. The number of a frame in its commit is
 * `event.place * FRAMES_OF_EVENT + index of the projection`.
 */
const FRAMES_OF_EVENT = 64;

/** Frame (message to a client about one event) without its cursor, which differs for each client. */
interface Frame {
  /**
   * Number of the frame in its commit. It is computed from the event alone, so it stays the same after other events of
   * the commit were purged.
   */
  place: number;
  source: CommittedEvent;
  projected: Projected;
  /** Rest of the frame's JSON, which follows the cursor. It is encoded when the first client needs it. */
  readonly tail: string;
}

/** Converts commits to frames: once for all clients of a caller, and only when a client needs the frame. */
class CommitFrames {
  private readonly made = new WeakMap<CommittedEvent, Frame[]>();

  constructor(private readonly projections: readonly EventProjection[]) {}

  /** Returns the frames of those events of a commit that belong to the caller. */
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

/** Returns the JSON of a frame with the cursor of a client and, for a client's subscription, the subscription's id. */
function frameText({ projected, tail }: Frame, cursor: string, subscription?: string): string {
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

/** Step of a client over one commit: where the client stands in the log of commits before and after it. */
interface CommitStep {
  /** `Frame.place` of the first frame of the commit that the client has not received yet. */
  readonly begin: number;
  /** Position in the log of a client that has received the whole commit. */
  readonly end: CursorPlace;
  /** Cursor of `end`. */
  readonly endCursor: string;
  /**
   * Returns the cursor of a client that has received exactly those frames of the commit whose `Frame.place` is below
   * `frame`.
   */
  cursorBefore(frame: number): string;
}

/** Steps over one commit, by the positions in the log at which they start. */
interface StepsOfCommit {
  readonly byStart: Map<CursorPlace, CommitStep>;
  /** Positions at which the steps end, by their cursors. Steps that end at the same position share one object. */
  readonly ends: Map<string, CursorPlace>;
}

/**
 * Moves clients from commit to commit. Clients at the same position share one step, so that its cursors are encoded
 * only once. A step is kept as long as its commit.
 */
export class CommitSteps {
  private readonly steps = new WeakMap<Commit, StepsOfCommit>();

  /** Returns the step over a commit from a position in the log. */
  findStep(commit: Commit, from: CursorPlace): CommitStep {
    let steps = this.steps.get(commit);
    if (!steps) this.steps.set(commit, (steps = { byStart: new Map(), ends: new Map() }));
    let step = steps.byStart.get(from);
    if (!step) steps.byStart.set(from, (step = createStep(commit, from, steps.ends)));
    return step;
  }
}

/**
 * Creates a step. Neither the step nor its positions refer to the commit: a client keeps the position `end` until the
 * next commit, perhaps for long, and must not keep this commit's events in memory with it.
 * @param from position of the client before the commit
 * @param ends positions at which earlier steps over this commit end, by cursor; an equal position is reused
 */
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

/** Message to a client; `cursor` is the position of the client once it has received this message. */
export interface GatewayFrame {
  cursor: string;
  text: PassingText;
}

/** Function that yields a first frame with only the initial cursor, then a query's frames until the signal aborts. */
export type Follow = (signal: AbortSignal) => AsyncGenerator<GatewayFrame>;

/** Names of the streams besides `task`, and the projections that make their frames. */
export interface GatewayStreams {
  names: readonly string[];
  projections: readonly EventProjection[];
}

export const GATEWAY_STREAMS = Symbol('GATEWAY_STREAMS');

/**
 * Streams every event of a caller's Tasks, runs and conversations, in an order that is the same at every replica. It
 * only reads. A client that returns with the cursor of its last frame, at any replica, gets every later frame exactly
 * once.
 *
 * A cursor is the text of a CursorPlace, a position in the log of all Tasks. The sequence numbers of a single Task's
 * log (TaskLogController) are no cursors.
 */
@Injectable()
export class EventGateway {
  private readonly frames: CommitFrames;
  private readonly steps = new CommitSteps();
  private readonly names: readonly string[];

  constructor(
    private readonly feed: CommitFeed,
    @Inject(GATEWAY_STREAMS) { names, projections }: GatewayStreams,
    private readonly turns: WorkTurns,
  ) {
    this.frames = new CommitFrames(projections);
    this.names = ['task', ...names];
  }

  /** Parses a query. @param scope owner of the shown events. @throws A2AError INVALID_PARAMS, see gatewayQuery */
  parseQuery(query: EventsQuery, scope: TaskScope): GatewayQuery {
    return gatewayQuery(query, this.names, scope);
  }

  /**
   * Parses the query of a WebSocket connection. A connection with `streams=none` gets one first frame (the hello),
   * and then only what its subscriptions send.
   * @throws A2AError INVALID_PARAMS, see gatewayQuery
   */
  readConnection(query: EventsQuery, scope: TaskScope): GatewayQuery {
    return silentQuery(query, this.names, scope) ?? this.parseQuery(query, scope);
  }

  /** Returns a WorkTurn of the caller: work that waits for it runs when the caller's turn on the event loop comes. */
  turnOf(scope: TaskScope): WorkTurn {
    return this.turns.createTurn(scope.owner === '' ? undefined : InFlight.accountOf(scope));
  }

  /**
   * Prepares to follow a query from its cursor, or without a cursor from now. Reads the position of the log once, so
   * that an unreachable database is reported before the stream begins. Frames contain only the part of a cursor that
   * the log knows, so clients cannot choose the size of frames.
   * @param subscription id that every frame contains; if absent, frames have no id, and the first frame is a hello
   */
  async followQuery(query: GatewayQuery, subscription?: string): Promise<Follow> {
    const now = await this.feed.readPosition();
    const place = query.since ? knownPlace(query.since, now.position) : { ...now, partly: new Map<string, number>() };
    return (signal) => this.streamFrames(place, { query, subscription }, signal);
  }

  private async *streamFrames(start: CursorPlace, reader: Reader, signal: AbortSignal): AsyncGenerator<GatewayFrame> {
    const cursor = encodeCursor(start);
    yield { cursor, text: new PassingText(cursor.length, () => firstFrame(cursor, reader.subscription)) };
    const { query } = reader;
    if (query.streams.size === 0) return;
    let place = start;
    for await (const commit of this.feed.followCommits(start.position, signal, this.turnOf(query.scope))) {
      const step = this.steps.findStep(commit, place);
      yield* this.framesOf(commit, step, reader);
      place = step.end;
    }
  }

  /** Yields the frames of a commit that a client has not received, and that match its query. */
  private *framesOf(commit: Commit, step: CommitStep, { query, subscription }: Reader): Generator<GatewayFrame> {
    const frames = this.frames.framesForCaller(commit, query.scope);
    for (const frame of frames) {
      if (frame.place < step.begin || !wantsFrame(query, frame.source, frame.projected)) continue;
      const cursor = frame === frames.at(-1) ? step.endCursor : step.cursorBefore(frame.place + 1);
      yield { cursor, text: new PassingText(frame.tail.length, () => frameText(frame, cursor, subscription)) };
    }
  }
}

/** Query of a client, and the id of its subscription, if any, which its frames contain. */
interface Reader {
  query: GatewayQuery;
  subscription: string | undefined;
}

function firstFrame(cursor: string, subscription: string | undefined): string {
  if (subscription === undefined) return `{"type":"hello","cursor":"${cursor}"}`;
  return JSON.stringify({ type: 'subscribed', subscription, cursor });
}
