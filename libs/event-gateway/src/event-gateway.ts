import { Inject, Injectable } from '@nestjs/common';
import { PassingText } from '#libs/http';
import { InFlight, type WorkTurn, WorkTurns } from '#libs/service';
import { type Commit, CommitFeed, type TaskScope } from '#libs/tasks';
import { CommitFrames, frameText } from './commit-frames.js';
import { type CommitStep, CommitSteps } from './commit-steps.js';
import type { EventProjection } from './event-projection.js';
import { encodeCursor, knownPlace, type CursorPlace } from './gateway-cursor.js';
import { type EventsQuery, type GatewayQuery, gatewayQuery, silentQuery, wantsFrame } from './gateway-query.js';

/** Message to a client; `cursor` is its position after this message. */
export interface GatewayFrame {
  cursor: string;
  text: PassingText;
}

/** Yields the first frame, with the initial cursor, then the frames of a query until the signal aborts. */
export type Follow = (signal: AbortSignal) => AsyncGenerator<GatewayFrame>;

/** Streams of the gateway besides the Tasks themselves, and their names. */
export interface GatewayStreams {
  names: readonly string[];
  projections: readonly EventProjection[];
}

export const GATEWAY_STREAMS = Symbol('GATEWAY_STREAMS');

/**
 * Streams every event of a caller's Tasks, runs and conversations, in an order that is the same at every replica. It
 * only reads. A client that returns with the cursor of its last frame, at any replica, gets every later frame exactly
 * once.
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
   * Parses the query of a connection. With `streams=none` it gets a hello and nothing more.
   * @throws A2AError INVALID_PARAMS, see gatewayQuery
   */
  readConnection(query: EventsQuery, scope: TaskScope): GatewayQuery {
    return silentQuery(query, this.names, scope) ?? this.parseQuery(query, scope);
  }

  /** Returns the turns of a caller's work on the event loop. */
  turnOf(scope: TaskScope): WorkTurn {
    return this.turns.createTurn(scope.owner === '' ? undefined : InFlight.accountOf(scope));
  }

  /**
   * Prepares to follow a query. It reads the log once, so that an unreachable database is reported before the stream
   * begins. Frames contain only the part of a cursor that the log knows, so clients cannot choose their size.
   * @param subscription id that every frame contains; without it the first frame is a hello
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

  /** Gives the frames of a commit that a client has not had and wants. */
  private *framesOf(commit: Commit, step: CommitStep, { query, subscription }: Reader): Generator<GatewayFrame> {
    const frames = this.frames.framesForCaller(commit, query.scope);
    for (const frame of frames) {
      if (frame.place < step.begin || !wantsFrame(query, frame.source, frame.projected)) continue;
      const cursor = frame === frames.at(-1) ? step.endCursor : step.cursorBefore(frame.place + 1);
      yield { cursor, text: new PassingText(frame.tail.length, () => frameText(frame, cursor, subscription)) };
    }
  }
}

/** Query of a client, and the id that its frames contain. */
interface Reader {
  query: GatewayQuery;
  subscription: string | undefined;
}

function firstFrame(cursor: string, subscription: string | undefined): string {
  if (subscription === undefined) return `{"type":"hello","cursor":"${cursor}"}`;
  return JSON.stringify({ type: 'subscribed', subscription, cursor });
}
