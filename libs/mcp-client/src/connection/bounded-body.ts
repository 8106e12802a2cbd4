import { AgentCallError } from '#libs/a2a-client';
import { tooManyMembers } from '#libs/http';

export interface BodyBounds {
  bytes: number;
  /** Members of objects and elements of lists in all that comes: a megabyte of empty lists is a hundred of values. */
  members: number;
  /** Is told why a body was cut. */
  cut?: (reason: AgentCallError) => void;
}

const [QUOTE, COMMA, BACKSLASH, LIST, OBJECT] = [0x22, 0x2c, 0x5c, 0x5b, 0x7b];

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
      if (count.after(piece) > members) refuse(tooManyMembers(members));
      controller.enqueue(piece);
    },
  });
}

/** Counts what begins a member or an element, outside of strings; of what is no JSON it tells nothing. */
class MemberCount {
  private members = 0;
  private inString = false;
  private escaped = false;

  after(piece: Uint8Array): number {
    for (const code of piece) {
      if (this.escaped) this.escaped = false;
      else if (code === QUOTE) this.inString = !this.inString;
      else if (this.inString) this.escaped = code === BACKSLASH;
      else if (code === COMMA || code === LIST || code === OBJECT) this.members += 1;
    }
    return this.members;
  }
}
