import { AgentCallError } from '#libs/a2a-client';
import { tooManyMembers } from '#libs/http';
import { LONGEST_ID_LINE } from './event-ends.js';
import type { AnswerAccount } from './received-bytes.js';
import { LONGEST_UNFINISHED_MS, UnfinishedBytes } from './unfinished-bytes.js';

export interface BodyBounds {
  bytes: number;
  /** Maximum number of members and elements in the whole body: empty lists take far more memory than bytes. */
  members: number;
  /** Called with the reason when a body is cut. */
  cut?: (reason: AgentCallError) => void;
}

/** Account that a body's bytes are held on while it is read. */
export interface BodyRoom {
  account: AnswerAccount;
  /** True if the body is a stream of events. Each event is passed on as soon as it ends. */
  isStream: boolean;
}

const [QUOTE, COMMA, BACKSLASH, NEWLINE, RETURN] = [0x22, 0x2c, 0x5c, 0x0a, 0x0d];
const [LIST, OBJECT, LIST_END, OBJECT_END] = [0x5b, 0x7b, 0x5d, 0x7d];
/** Maximum nesting depth of a message; deeper values overflow recursive code. */
export const DEEPEST_MESSAGE = 500;
export const TOO_DEEP = `is nested deeper than ${DEEPEST_MESSAGE} levels`;

/**
 * Passes on a body: JSON, or a stream of events with JSON in them. Fails it with an AgentCallError
 * - beyond its bounds,
 * - when an event, or a JSON body, does not end within 60 seconds of its first byte.
 */
export function boundedBody(
  bounds: BodyBounds,
  room?: BodyRoom,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const body = new BoundedBody(bounds, room);
  return new TransformStream({
    start: (controller) => {
      body.failBody = (reason) => controller.error(reason);
    },
    transform: (piece, controller) => {
      body.takePiece(piece);
      controller.enqueue(piece);
    },
    flush: () => body.releaseBytes(),
    cancel: () => body.releaseBytes(),
  });
}

class BoundedBody {
  /** Fails the body. */
  failBody: (reason: AgentCallError) => void = () => undefined;
  private readonly count = new JsonMemberCounter();
  private readonly unfinished: UnfinishedBytes | undefined;
  private received = 0;

  constructor(
    private readonly bounds: BodyBounds,
    room: BodyRoom | undefined,
  ) {
    this.unfinished =
      room && new UnfinishedBytes(room.account, room.isStream, () => this.failBody(this.refuseBody(LATE)));
  }

  /** @throws AgentCallError */
  takePiece(piece: Uint8Array): void {
    const { bytes, members } = this.bounds;
    this.received += piece.byteLength;
    if (this.received > bytes) throw this.refuseBody(`is longer than ${bytes} bytes`);
    this.count.countPiece(piece);
    if (this.count.members > members) throw this.refuseBody(tooManyMembers(members));
    if (this.count.deepest > DEEPEST_MESSAGE) throw this.refuseBody(TOO_DEEP);
    try {
      this.unfinished?.countPiece(piece);
    } catch (error) {
      throw this.cutBody(error as AgentCallError);
    }
    if (this.unfinished?.hasLongId) throw this.refuseBody(LONG_ID);
  }

  releaseBytes(): void {
    this.unfinished?.releaseBytes();
  }

  private refuseBody(reason: string): AgentCallError {
    return this.cutBody(new AgentCallError('invalid-response', `the answer ${reason}`));
  }

  private cutBody(reason: AgentCallError): AgentCallError {
    this.releaseBytes();
    this.bounds.cut?.(reason);
    return reason;
  }
}

const LATE = `did not end within ${LONGEST_UNFINISHED_MS / 1_000} s of its first byte`;
const LONG_ID = `names an event with more than ${LONGEST_ID_LINE} characters`;

/**
 * Counts members, elements and nesting outside of strings; a string ends with its line. The counts of a body that is
 * not JSON have no meaning.
 */
class JsonMemberCounter {
  members = 0;
  deepest = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;

  countPiece(piece: Uint8Array): void {
    for (const code of piece) {
      if (code === NEWLINE || code === RETURN) this.inString = this.escaped = false;
      else if (this.escaped) this.escaped = false;
      else if (code === QUOTE) this.inString = !this.inString;
      else if (this.inString) this.escaped = code === BACKSLASH;
      else if (code === COMMA) this.members += 1;
      else if (code === LIST || code === OBJECT) this.openLevel();
      else if (code === LIST_END || code === OBJECT_END) this.depth = Math.max(0, this.depth - 1);
    }
  }

  private openLevel(): void {
    this.members += 1;
    this.depth += 1;
    this.deepest = Math.max(this.deepest, this.depth);
  }
}
