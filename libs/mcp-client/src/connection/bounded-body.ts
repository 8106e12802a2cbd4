import { AgentCallError } from '#libs/a2a-client';
import { tooManyMembers } from '#libs/http';
import type { AnswerAccount } from './received-bytes.js';

export interface BodyBounds {
  bytes: number;
  /** Members of objects and elements of lists in all that comes: a megabyte of empty lists is a hundred of values. */
  members: number;
  /** Is told why a body was cut. */
  cut?: (reason: AgentCallError) => void;
}

/** Whose room a body takes while it is read. */
export interface BodyRoom {
  account: AnswerAccount;
  /** True if the body is a stream of events: each line of it is passed on as it ends. */
  isStream: boolean;
}

const [QUOTE, COMMA, BACKSLASH, NEWLINE] = [0x22, 0x2c, 0x5c, 0x0a];
const [LIST, OBJECT, LIST_END, OBJECT_END] = [0x5b, 0x7b, 0x5d, 0x7d];
/** Levels of a message's JSON that may lie in each other; what is deeper breaks what recurses. */
export const DEEPEST_MESSAGE = 500;
export const TOO_DEEP = `is nested deeper than ${DEEPEST_MESSAGE} levels`;

/** Passes a body on, JSON or a stream of events with JSON in them, and fails it with an AgentCallError beyond its bounds. */
export function boundedBody(
  { bytes, members, cut }: BodyBounds,
  room?: BodyRoom,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const count = new MemberCount();
  let received = 0;
  const refuse = (refusal: AgentCallError): never => {
    room?.account.release();
    cut?.(refusal);
    throw refusal;
  };
  const tooLarge = (reason: string): never => refuse(new AgentCallError('invalid-response', `the answer ${reason}`));
  const release = (): void => room?.account.release();
  return new TransformStream({
    transform(piece, controller) {
      received += piece.byteLength;
      if (received > bytes) tooLarge(`is longer than ${bytes} bytes`);
      count.take(piece);
      if (count.members > members) tooLarge(tooManyMembers(members));
      if (count.deepest > DEEPEST_MESSAGE) tooLarge(TOO_DEEP);
      if (room) charge(room, piece, refuse);
      controller.enqueue(piece);
    },
    flush: release,
    cancel: release,
  });
}

function charge({ account, isStream }: BodyRoom, piece: Uint8Array, refuse: (refusal: AgentCallError) => never): void {
  const passed = isStream ? piece.lastIndexOf(NEWLINE) + 1 : 0;
  if (passed > 0) account.release();
  try {
    account.take(piece.byteLength - passed);
  } catch (error) {
    refuse(error as AgentCallError);
  }
}

/** Counts what begins a member or an element, and nesting, outside of strings; of what is no JSON it tells nothing. */
class MemberCount {
  members = 0;
  deepest = 0;
  private depth = 0;
  private inString = false;
  private escaped = false;

  take(piece: Uint8Array): void {
    for (const code of piece) {
      if (this.escaped) this.escaped = false;
      else if (code === QUOTE) this.inString = !this.inString;
      else if (this.inString) this.escaped = code === BACKSLASH;
      else if (code === COMMA) this.members += 1;
      else if (code === LIST || code === OBJECT) this.open();
      else if (code === LIST_END || code === OBJECT_END) this.depth -= 1;
    }
  }

  private open(): void {
    this.members += 1;
    this.depth += 1;
    this.deepest = Math.max(this.deepest, this.depth);
  }
}
