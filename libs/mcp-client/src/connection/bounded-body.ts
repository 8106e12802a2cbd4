import { AgentCallError } from '#libs/a2a-client';
import { tooManyMembers } from '#libs/http';

export interface BodyBounds {
  bytes: number;
  /** Members of objects and elements of lists in all that comes: a megabyte of empty lists is a hundred of values. */
  members: number;
  /** Is told why a body was cut. */
  cut?: (reason: AgentCallError) => void;
}

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [LIST, OBJECT, LIST_END, OBJECT_END] = [0x5b, 0x7b, 0x5d, 0x7d];
/** Levels of a message's JSON that may lie in each other; what is deeper breaks what recurses. */
export const DEEPEST_MESSAGE = 500;
export const TOO_DEEP = `is nested deeper than ${DEEPEST_MESSAGE} levels`;

/** Passes a body on, JSON or a stream of events with JSON in them, and fails it with an AgentCallError beyond its bounds. */
export function boundedBody({
  bytes,
  members,
  cut,
}: BodyBounds): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const count = new MemberCount();
  let received = 0;
  const refuse = (reason: string): never => {
    const refusal = new AgentCallError('invalid-response', `the answer ${reason}`);
    cut?.(refusal);
    throw refusal;
  };
  return new TransformStream({
    transform(piece, controller) {
      received += piece.byteLength;
      if (received > bytes) refuse(`is longer than ${bytes} bytes`);
      count.take(piece);
      if (count.members > members) refuse(tooManyMembers(members));
      if (count.deepest > DEEPEST_MESSAGE) refuse(TOO_DEEP);
      controller.enqueue(piece);
    },
  });
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
