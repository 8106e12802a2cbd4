import { Inject, Injectable, Optional } from '@nestjs/common';
import type { IncomingMessage, Server } from 'node:http';
import { AppConfig, InFlight, type InFlightOwner, Metrics, WorkTurns } from '#libs/service';
import { ByteRoom, LONGEST_WAIT_MS, RESPONSE_WAIT_MS } from './response-budget.js';

/** Minimum number of characters at which a frame of an event stream waits for memory in FrameRoom. */
export const LARGE_FRAME = 64 * 1024;
/** Bytes of memory per character: the frame exists twice, as text and as bytes in the socket. */
const BYTES_PER_CHARACTER = 2;

/**
 * Function that waits until FrameRoom has room for a frame of `characters` characters.
 * @returns the function that frees the room, to call once the reader has taken the frame
 */
export type EnterFrame = (characters: number) => Promise<() => void>;

const NEVER = new AbortController().signal;
const ROOMS = new WeakMap<object, (request: IncomingMessage) => EnterFrame>();

/**
 * Memory of this process for large frames of event streams, as much as large answers have (ANSWER_LIMIT).
 * - Room for a frame is reserved before the frame is built, and freed once the reader has taken the frame. So hundreds
 *   of streams that send the same large event take turns.
 * - ByteRoom shares the room among callers. Whole answers have a separate room, ResponseBudget.
 * - Once a frame has room, it is built and sent in the turn of its caller on the event loop (WorkTurns).
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
    this.room = new ByteRoom({ bytes: memory.answerBytes, waitMs, onRefused: () => undefined });
    metrics.gauge('parley_frame_bytes', 'Bytes of large frames of streams under way', [], () => this.room.taken);
    metrics.gauge('parley_frames_waiting', 'Large frames of streams that wait', [], () => this.room.waiting);
  }

  /** Number of bytes of room that frames hold. */
  get taken(): number {
    return this.room.taken;
  }

  /**
   * Resolves when there is room for a frame and it is its caller's turn on the event loop.
   * @returns the function that frees the room; call it once the reader has taken the frame
   * @throws ResponseBudgetExceeded after 45 seconds
   */
  async enterFrame(characters: number, whose: InFlightOwner): Promise<() => void> {
    const leave = await this.room.enterRoom(characters * BYTES_PER_CHARACTER, whose);
    await this.turns.createTurn(whose.owner === '' ? undefined : InFlight.accountOf(whose)).awaitTurn(NEVER);
    return leave;
  }

  /**
   * Makes large frames of a server's event streams wait for this room.
   * @param whose returns the caller of a request
   */
  serveStreams(server: Server, whose: (request: IncomingMessage) => InFlightOwner): void {
    ROOMS.set(server, (request) => (characters) => this.enterFrame(characters, whose(request)));
  }
}

/**
 * Returns the function by which large frames of a response wait for room; `undefined` if the server of the request
 * has no FrameRoom.
 */
export function frameRoomOf(request: IncomingMessage | undefined): EnterFrame | undefined {
  // Node stores the server of each socket on it.
  const { server } = (request?.socket ?? {}) as { server?: object };
  return request && server && ROOMS.get(server)?.(request);
}
