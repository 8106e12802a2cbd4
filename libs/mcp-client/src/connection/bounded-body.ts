import { AgentCallError } from '#libs/a2a-client';
import { tooManyMembers } from '#libs/http-server';
import { addCount } from '#libs/service';

const [LINE_FEED, CARRIAGE_RETURN, COLON, LETTER_I] = [0x0a, 0x0d, 0x3a, 0x69];
/** Maximum number of bytes of an `id` line of an event. The MCP SDK keeps the id in memory to resume the stream. */
const LONGEST_ID_LINE = 4_096;

/**
 * Finds the ends of events in a stream (SSE; WHATWG HTML, section 9.2.6), however the stream is split into pieces.
 * Comments do not count toward an event.
 */
class EventEnds {
  /** Number of bytes of the event that has not ended yet, without line ends. */
  pending = 0;
  /** True once a line with an id had more than LONGEST_ID_LINE bytes. */
  hasLongId = false;
  /** Number of bytes of the unfinished line. */
  private length = 0;
  /** First byte of the unfinished line. */
  private first = 0;
  /** True if the last byte was CR. An LF right after it belongs to the same line end. */
  private isAfterReturn = false;

  /**
   * Reads a piece of the stream.
   * @returns true if an event ends in the piece
   */
  readPiece(piece: Uint8Array): boolean {
    let hasEnd = false;
    let start = this.isAfterReturn && piece[0] === LINE_FEED ? 1 : 0;
    let newline = piece.indexOf(LINE_FEED, start);
    let back = piece.indexOf(CARRIAGE_RETURN, start);
    while (newline >= 0 || back >= 0) {
      const end = back < 0 || (newline >= 0 && newline < back) ? newline : back;
      this.growLine(piece[start], end - start);
      if (this.endLine()) hasEnd = true;
      start = end === back && newline === back + 1 ? end + 2 : end + 1;
      if (newline >= 0 && newline < start) newline = piece.indexOf(LINE_FEED, start);
      if (back >= 0 && back < start) back = piece.indexOf(CARRIAGE_RETURN, start);
    }
    this.growLine(piece[start], piece.length - start);
    if (piece.length > 0) this.isAfterReturn = piece.at(-1) === CARRIAGE_RETURN;
    return hasEnd;
  }

  /**
   * Counts further bytes of the unfinished line.
   * @param first the first of these bytes; ignored if there are none
   * @param bytes number of these bytes
   */
  private growLine(first: number | undefined, bytes: number): void {
    if (first === undefined || bytes <= 0) return;
    if (this.length === 0) this.first = first;
    this.length += bytes;
    if (this.first !== COLON) this.pending += bytes;
    if (this.first === LETTER_I && this.length > LONGEST_ID_LINE) this.hasLongId = true;
  }

  /** Ends the unfinished line. @returns true if the line is blank, which ends an event */
  private endLine(): boolean {
    const isBlank = this.length === 0;
    if (isBlank) this.pending = 0;
    this.length = 0;
    return isBlank;
  }
}

/**
 * Maximum number of bytes that the unfinished answers of all MCP servers hold in this process. One tenant may hold half
 * of it.
 */
export const MOST_RECEIVED = 64 * 1024 * 1024;
const SHARE = MOST_RECEIVED / 2;
/**
 * Number of bytes that each answer may hold even if MOST_RECEIVED is used up, so that long answers never cause a short
 * one to fail.
 */
const ALWAYS = 64 * 1024;

/** Counts the bytes that unfinished answers hold in memory, for each tenant and in total. */
export class ReceivedBytes {
  private readonly tenants = new Map<string, number>();
  private total = 0;

  /** Opens the account of one answer for a tenant. */
  openAccount(tenant: string): AnswerAccount {
    return new AnswerAccount((change) => this.countChange(tenant, change));
  }

  /**
   * Adds `change` (negative for released bytes) to the held bytes of the tenant and of all tenants, even beyond a
   * limit.
   * @returns true if the held bytes are within both limits
   */
  private countChange(tenant: string, change: number): boolean {
    const held = addCount(this.tenants, tenant, change);
    this.total += change;
    return held <= SHARE && this.total <= MOST_RECEIVED;
  }
}

/** Account of the bytes that one unfinished answer holds. */
export class AnswerAccount {
  private held = 0;

  constructor(private readonly change: (bytes: number) => boolean) {}

  /**
   * Adds bytes to the bytes that this answer holds.
   * @throws AgentCallError if the unfinished answers of the tenant or of all tenants hold too many bytes, and this
   * answer holds more than ALWAYS bytes
   */
  holdBytes(bytes: number): void {
    this.held += bytes;
    if (this.change(bytes) || this.held <= ALWAYS) return;
    this.releaseBytes();
    throw new AgentCallError(
      'invalid-response',
      'too many long answers of MCP servers are being read at the same time',
    );
  }

  /** Releases all bytes that this answer holds. */
  releaseBytes(): void {
    this.change(-this.held);
    this.held = 0;
  }
}

/** Time limit in milliseconds from the first to the last byte of an event, or of an answer that is not a stream. */
const LONGEST_UNFINISHED_MS = 60_000;
const SPACE = 0x20;

/**
 * Counts the bytes of a body that are read and not yet passed on. In a stream these are the bytes of the unfinished
 * event, otherwise the bytes of the whole answer.
 */
class UnfinishedBytes {
  private readonly events: EventEnds | undefined;
  private held = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param late called if an event, or an answer that is not a stream, does not end in time */
  constructor(
    private readonly account: AnswerAccount,
    isStream: boolean,
    private readonly late: () => void,
  ) {
    this.events = isStream ? new EventEnds() : undefined;
  }

  get hasLongId(): boolean {
    return this.events?.hasLongId === true;
  }

  /**
   * Counts a piece of the body.
   * @throws AgentCallError if the unfinished answers of all servers leave no room for the piece
   */
  countPiece(piece: Uint8Array): void {
    if (this.events?.readPiece(piece)) this.releaseBytes();
    const added = this.events ? this.events.pending - this.held : this.answerBytes(piece);
    if (added === 0) return;
    this.timer ??= setTimeout(this.late, LONGEST_UNFINISHED_MS).unref();
    this.held += added;
    this.account.holdBytes(added);
  }

  /** Releases the bytes that the body holds, and stops the timer. */
  releaseBytes(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.held = 0;
    this.account.releaseBytes();
  }

  /**
   * Returns the number of bytes to count for a piece of an answer that is not a stream. Leading white space is a
   * keep-alive and does not count.
   */
  private answerBytes(piece: Uint8Array): number {
    return this.held > 0 || piece.some((code) => code > SPACE) ? piece.byteLength : 0;
  }
}

/** Limits of one body or message. */
export interface BodyBounds {
  /** Maximum size of the body, in bytes. */
  bytes: number;
  /**
   * Maximum number of members and elements of JSON in the whole body, as empty lists take far more memory than bytes.
   */
  members: number;
  /** Called with the reason when this service stops reading the body because it exceeds a limit. */
  cut?: (reason: AgentCallError) => void;
}

/** Account in which the bytes of a body count while the body is read. */
export interface BodyRoom {
  account: AnswerAccount;
  /** True if the body is a stream of events (SSE). Each event is passed on as soon as it ends. */
  isStream: boolean;
}

const [QUOTE, COMMA, BACKSLASH, NEWLINE, RETURN] = [0x22, 0x2c, 0x5c, 0x0a, 0x0d];
const [LIST, OBJECT, LIST_END, OBJECT_END] = [0x5b, 0x7b, 0x5d, 0x7d];
/** Maximum nesting depth of the JSON of a message. Deeper values would overflow recursive code. */
export const DEEPEST_MESSAGE = 500;
export const TOO_DEEP = `is nested deeper than ${DEEPEST_MESSAGE} levels`;

/**
 * Creates a stream that passes on a body: JSON, or a stream of events (SSE) with JSON in them. The body fails with an
 * AgentCallError
 * - if the body exceeds `bounds`, or its JSON nests deeper than 500 levels
 * - if an event, or a JSON body, does not end within 60 seconds of its first byte
 * - if the id of an event is too long, or all unfinished answers together hold too many bytes (MOST_RECEIVED)
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
  /** Fails the stream of the body with a reason. */
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

  /** Counts a piece of the body against all limits. @throws AgentCallError if the body exceeds a limit */
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
 * Counts the members, elements and nesting levels of JSON, outside of strings. A string ends at the end of its line.
 * The counts of a body that is not JSON have no meaning.
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
