import { Inject, Injectable } from '@nestjs/common';
import { InFlight, WorkTurns } from '#libs/service';
import { type Commit, CommitFeed, type TaskScope } from '#libs/tasks';
import { CommitFrames, frameText } from './commit-frames.js';
import type { EventProjection } from './event-projection.js';
import { encodeCursor, knownPlace, type Place } from './gateway-cursor.js';
import { type EventsQuery, type GatewayQuery, gatewayQuery, wants } from './gateway-query.js';

/** One message to a client; `cursor` is where it stands when it has it. */
export interface GatewayFrame {
  cursor: string;
  text: string;
}

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
   * What gives a hello with the cursor to begin from, then what the query wants, until its signal aborts. Resolves when
   * the log was asked once, so that a client is told of a database that is away before anything is begun for it. Of a
   * cursor only what the log knows goes on into frames, so their size is not the client's to choose.
   */
  async open(query: GatewayQuery): Promise<(signal: AbortSignal) => AsyncGenerator<GatewayFrame>> {
    const now = await this.feed.position();
    const place = query.since ? knownPlace(query.since, now.position) : { ...now, partly: new Map<string, number>() };
    return (signal) => this.follow(place, query, signal);
  }

  private async *follow(place: Place, query: GatewayQuery, signal: AbortSignal): AsyncGenerator<GatewayFrame> {
    const start = encodeCursor(place);
    yield { cursor: start, text: `{"type":"hello","cursor":"${start}"}` };
    const position = new Map(place.position);
    const partly = new Map(place.partly);
    const { scope } = query;
    const turn = this.turns.of(scope.owner === '' ? undefined : InFlight.accountOf(scope));
    for await (const commit of this.feed.follow(place.position, signal, turn)) {
      yield* this.rest(commit, { position, partly, at: commit.committedAt }, query);
      position.set(commit.writer, commit.position);
      partly.delete(commit.writer);
    }
  }

  /** The frames of a commit that a client has not had and wants. */
  private *rest(commit: Commit, place: Place, query: GatewayQuery): Generator<GatewayFrame> {
    const frames = this.frames.of(commit, query.scope);
    const begin = place.partly.get(commit.writer) ?? 0;
    for (const frame of frames) {
      if (frame.place < begin || !wants(query, frame.source, frame.projected)) continue;
      const cursor = encodeCursor(
        frame === frames.at(-1) ? after(place, commit) : within(place, commit, frame.place + 1),
      );
      yield { cursor, text: frameText(frame, cursor) };
    }
  }
}

function after({ position, partly, at }: Place, commit: Commit): Place {
  const others = new Map(partly);
  others.delete(commit.writer);
  return { position: new Map(position).set(commit.writer, commit.position), partly: others, at };
}

function within({ position, partly, at }: Place, { writer }: Commit, reached: number): Place {
  return { position, partly: new Map(partly).set(writer, reached), at };
}
