import { Inject, Injectable } from '@nestjs/common';
import { PassingText } from '#libs/http';
import { InFlight, type WorkTurn, WorkTurns } from '#libs/service';
import { type Commit, CommitFeed, type TaskScope } from '#libs/tasks';
import { CommitFrames, frameText } from './commit-frames.js';
import type { EventProjection } from './event-projection.js';
import { encodeCursor, knownPlace, type Place } from './gateway-cursor.js';
import { type EventsQuery, type GatewayQuery, gatewayQuery, silentQuery, wants } from './gateway-query.js';

/** One message to a client; `cursor` is where it stands when it has it. */
export interface GatewayFrame {
  cursor: string;
  text: PassingText;
}

/** Gives the first frame, which has the cursor to begin from, then what a query wants, until the signal aborts. */
export type Follow = (signal: AbortSignal) => AsyncGenerator<GatewayFrame>;

/** What the gateway shows besides the Tasks themselves, and the names of its streams. */
export interface GatewayStreams {
  names: readonly string[];
  projections: readonly EventProjection[];
}

export const GATEWAY_STREAMS = Symbol('GATEWAY_STREAMS');

/**
 * The outward live view: every event of a caller's Tasks, runs and conversations, in an order that is the same at every
 * replica.
 * It only reads. A client that comes back with the cursor of its last frame, here or elsewhere, gets every frame after
 * it exactly once.
 */
@Injectable()
export class EventGateway {
  private readonly frames: CommitFrames;
  private readonly names: readonly string[];

  constructor(
    private readonly feed: CommitFeed,
    @Inject(GATEWAY_STREAMS) { names, projections }: GatewayStreams,
    private readonly turns: WorkTurns,
  ) {
    this.frames = new CommitFrames(projections);
    this.names = ['task', ...names];
  }

  /** @param scope whose events are shown. @throws A2AError INVALID_PARAMS, see gatewayQuery */
  read(query: EventsQuery, scope: TaskScope): GatewayQuery {
    return gatewayQuery(query, this.names, scope);
  }

  /**
   * Reads the query of a connection that may want no stream of its own (`streams=none`): it gets a hello and nothing more.
   * @throws A2AError INVALID_PARAMS, see gatewayQuery
   */
  readConnection(query: EventsQuery, scope: TaskScope): GatewayQuery {
    return silentQuery(query, this.names, scope) ?? this.read(query, scope);
  }

  /** Returns the turns of a caller's work on the event loop. */
  turnOf(scope: TaskScope): WorkTurn {
    return this.turns.of(scope.owner === '' ? undefined : InFlight.accountOf(scope));
  }

  /**
   * Begins to follow a query. Resolves when the log was asked once, so that a client is told of a database that is away
   * before anything is begun for it. Of a cursor only what the log knows goes on into frames, so their size is not the
   * client's to choose.
   * @param subscription the id that every frame carries; without it the first frame is a hello
   */
  async open(query: GatewayQuery, subscription?: string): Promise<Follow> {
    const now = await this.feed.position();
    const place = query.since ? knownPlace(query.since, now.position) : { ...now, partly: new Map<string, number>() };
    return (signal) => this.follow(place, { query, subscription }, signal);
  }

  private async *follow(place: Place, reader: Reader, signal: AbortSignal): AsyncGenerator<GatewayFrame> {
    const start = encodeCursor(place);
    yield { cursor: start, text: new PassingText(start.length, () => firstFrame(start, reader.subscription)) };
    const { query } = reader;
    if (query.streams.size === 0) return;
    const position = new Map(place.position);
    const partly = new Map(place.partly);
    for await (const commit of this.feed.follow(place.position, signal, this.turnOf(query.scope))) {
      yield* this.rest(commit, { position, partly, at: commit.committedAt }, reader);
      position.set(commit.writer, commit.position);
      partly.delete(commit.writer);
    }
  }

  /** The frames of a commit that a client has not had and wants. */
  private *rest(commit: Commit, place: Place, { query, subscription }: Reader): Generator<GatewayFrame> {
    const frames = this.frames.of(commit, query.scope);
    const begin = place.partly.get(commit.writer) ?? 0;
    for (const frame of frames) {
      if (frame.place < begin || !wants(query, frame.source, frame.projected)) continue;
      const cursor = encodeCursor(
        frame === frames.at(-1) ? after(place, commit) : within(place, commit, frame.place + 1),
      );
      yield { cursor, text: new PassingText(frame.tail.length, () => frameText(frame, cursor, subscription)) };
    }
  }
}

/** Query of a client, and the id that its frames carry. */
interface Reader {
  query: GatewayQuery;
  subscription: string | undefined;
}

function firstFrame(cursor: string, subscription: string | undefined): string {
  if (subscription === undefined) return `{"type":"hello","cursor":"${cursor}"}`;
  return JSON.stringify({ type: 'subscribed', subscription, cursor });
}

function after({ position, partly, at }: Place, commit: Commit): Place {
  const others = new Map(partly);
  others.delete(commit.writer);
  return { position: new Map(position).set(commit.writer, commit.position), partly: others, at };
}

function within({ position, partly, at }: Place, { writer }: Commit, reached: number): Place {
  return { position, partly: new Map(partly).set(writer, reached), at };
}
