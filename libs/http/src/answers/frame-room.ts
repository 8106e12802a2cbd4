import type { IncomingMessage, Server } from 'node:http';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppConfig, InFlight, type InFlightOwner, Metrics, WorkTurns } from '#libs/service';
import { ByteRoom } from './byte-room.js';
import { LONGEST_WAIT_MS, RESPONSE_WAIT_MS } from './response-budget.js';

/** Characters from which on a frame needs room. */
export const LARGE_FRAME = 64 * 1024;
/** Bytes in memory for each character: the frame as it is put together, and as the socket holds it. */
const BYTES_PER_CHARACTER = 2;

/** Enters the room with a frame of so many characters. @returns what to call, once, when the reader has taken it */
export type EnterFrame = (characters: number) => Promise<() => void>;

const NEVER = new AbortController().signal;
const ROOMS = new WeakMap<object, (request: IncomingMessage) => EnterFrame>();

/**
 * The memory of this process for large frames of event streams, from when they are put together until their readers have
 * taken them: as much as large answers have (ANSWER_LIMIT). Hundreds of streams that show one large event take turns
 * instead of the process's memory. ByteRoom says how callers share it. A frame with room is put together and sent in its
 * caller's turn on the event loop (WorkTurns).
 */
@Injectable()
export class FrameRoom {
  private readonly room: ByteRoom;

  constructor(
    { memory }: AppConfig,
    metrics: Metrics,
    private readonly turns: WorkTurns,
    @Optional() @Inject(RESPONSE_WAIT_MS) waitMs = LONGEST_WAIT_MS,
  ) {
    this.room = new ByteRoom({ bytes: memory.answerBytes, waitMs, refused: () => undefined });
    metrics.gauge('parley_frame_bytes', 'Bytes of large frames of streams under way', [], () => this.room.taken);
    metrics.gauge('parley_frames_waiting', 'Large frames of streams that wait', [], () => this.room.waiting);
  }

  /** Number of bytes that have room. */
  get taken(): number {
    return this.room.taken;
  }

  /**
   * Resolves when there is room for a frame, in its caller's turn. @returns what to call, once, when its reader has taken it
   * @throws ResponseBudgetExceeded after three quarters of a minute
   */
  async enter(characters: number, whose: InFlightOwner): Promise<() => void> {
    const leave = await this.room.enter(characters * BYTES_PER_CHARACTER, whose);
    await this.turns.of(whose.owner === '' ? undefined : InFlight.accountOf(whose)).next(NEVER);
    return leave;
  }

  /** Has the streams of a server's responses enter this room. */
  serve(server: Server, whose: (request: IncomingMessage) => InFlightOwner): void {
    ROOMS.set(server, (request) => (characters) => this.enter(characters, whose(request)));
  }
}

/** Returns how the frames that answer a request enter their room; `undefined` where its server has none. */
export function frameRoomOf(request: IncomingMessage | undefined): EnterFrame | undefined {
  // Node keeps with each socket whose it is.
  const { server } = (request?.socket ?? {}) as { server?: object };
  return request && server && ROOMS.get(server)?.(request);
}
