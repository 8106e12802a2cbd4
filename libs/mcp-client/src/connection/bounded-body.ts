import { AgentCallError } from '#libs/a2a-client';
import { tooManyMembers } from '#libs/http-server';
import { addCount } from '#libs/service';

const [LINE_FEED, CARRIAGE_RETURN, COLON, LETTER_I] = [0x0a, 0x0d, 0x3a, 0x69];
/** Maximum length in bytes of a line with an event's id. The SDK keeps the id to resume the stream. */
const LONGEST_ID_LINE = 4_096;

/**
 * Finds the ends of events in a stream (WHATWG HTML, section 9.2.6), however it is split into pieces. Comments do not
 * count toward an event.
 */
class EventEnds {
  /** Bytes of the unfinished event, without its line ends. */
  pending = 0;
  /** True once a line with an id was longer than `LONGEST_ID_LINE`. */
  hasLongId = false;
  /** Length of the unfinished line, and its first byte. */
  private length = 0;
  private first = 0;
  /** True if the last byte was CR; an LF right after it belongs to the same line end. */
  private isAfterReturn = false;

  /**
   * Reads a piece of the stream.
   * @returns true if an event ended in it
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

  /** Adds bytes to the current line. `first` is the first of them. */
  private growLine(first: number | undefined, bytes: number): void {
    if (first === undefined || bytes <= 0) return;
    if (this.length === 0) this.first = first;
    this.length += bytes;
    if (this.first !== COLON) this.pending += bytes;
    if (this.first === LETTER_I && this.length > LONGEST_ID_LINE) this.hasLongId = true;
  }

  /** Ends a line. Returns true if it is blank, which ends an event. */
  private endLine(): boolean {
    const isBlank = this.length === 0;
    if (isBlank) this.pending = 0;
    this.length = 0;
    return isBlank;
  }
}

/** Maximum bytes of unfinished answers that this process holds for all MCP servers; one tenant may hold half of it. */
export const MOST_RECEIVED = 64 * 1024 * 1024;
const SHARE = MOST_RECEIVED / 2;
/** Bytes that every answer may hold: a short answer is never refused because of others. */
const ALWAYS = 64 * 1024;

/** Counts the held bytes of unfinished answers, per tenant and in total. */
export class ReceivedBytes {
  private readonly tenants = new Map<string, number>();
  private total = 0;

  /** Opens the account of one answer for the tenant. */
  openAccount(tenant: string): AnswerAccount {
    return new AnswerAccount((change) => this.countChange(tenant, change));
  }

  /** Counts the change in either case. @returns true if the held bytes are within both limits */
  private countChange(tenant: string, change: number): boolean {
    const held = addCount(this.tenants, tenant, change);
    this.total += change;
    return held <= SHARE && this.total <= MOST_RECEIVED;
  }
}

/** Account of the bytes that one answer holds. */
export class AnswerAccount {
  private held = 0;

  constructor(private readonly change: (bytes: number) => boolean) {}

  /** Holds more bytes. @throws AgentCallError if a long answer exceeds the limits */
  holdBytes(bytes: number): void {
    this.held += bytes;
    if (this.change(bytes) || this.held <= ALWAYS) return;
    this.releaseBytes();
    throw new AgentCallError(
      'invalid-response',
      'too many long answers of MCP servers are being read at the same time',
    );
  }

  /** Releases all held bytes. */
  releaseBytes(): void {
    this.change(-this.held);
    this.held = 0;
  }
}

/** Milliseconds from the first to the last byte of an event, or of an answer that is not a stream. */
const LONGEST_UNFINISHED_MS = 60_000;
const SPACE = 0x20;

/**
 * Counts the bytes of a body that are read and not yet passed on: those of the current event, or of the whole answer.
 */
class UnfinishedBytes {
  private readonly events: EventEnds | undefined;
  private held = 0;
  private timer: NodeJS.Timeout | undefined;

  /** @param late called if an event or answer does not end in time */
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
   * @throws AgentCallError if other answers leave no room for it
   */
  countPiece(piece: Uint8Array): void {
    if (this.events?.readPiece(piece)) this.releaseBytes();
    const added = this.events ? this.events.pending - this.held : this.answerBytes(piece);
    if (added === 0) return;
    this.timer ??= setTimeout(this.late, LONGEST_UNFINISHED_MS).unref();
    this.held += added;
    this.account.holdBytes(added);
  }

  /** Releases the held bytes, and stops the timer. */
  releaseBytes(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.held = 0;
    this.account.releaseBytes();
  }

  /**
   * Returns the bytes to count for an answer that is not a stream. Leading white space is a keep-alive and does not
   * count.
   */
  private answerBytes(piece: Uint8Array): number {
    return this.held > 0 || piece.some((code) => code > SPACE) ? piece.byteLength : 0;
  }
}

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
