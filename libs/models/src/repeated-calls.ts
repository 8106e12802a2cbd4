import { isJsonObject, type JsonValue } from '#libs/protocol';

/** Members of a piece of a call; a missing member is empty. */
interface CallPiece {
  id: string;
  name: string;
  args: string;
}

/** Detects repeated calls within one streamed answer. Reads each character once. */
export class RepeatedCalls {
  /** Latest call by index. */
  private readonly open = new Map<number, GrowingCall>();
  /** Earlier calls whose index has a newer call. */
  private readonly ended = new Set<string>();

  /** Adds a piece. @returns true if it repeats a complete call: same index, id, name and arguments */
  takePiece(sent: JsonValue): boolean {
    if (!isJsonObject(sent) || typeof sent['index'] !== 'number') return false;
    const { index, id } = sent;
    const { name, arguments: args } = isJsonObject(sent['function']) ? sent['function'] : {};
    const piece = { id: pieceText(id), name: pieceText(name), args: pieceText(args) };
    const open = this.open.get(index);
    const isNamed = piece.id !== '' && piece.name !== '';
    if (isNamed && (open?.isRepeatedBy(piece) || this.ended.has(callKey(index, piece)))) return true;
    if (open && !(piece.name !== '' && open.isComplete)) open.addPiece(piece);
    else {
      if (open) this.ended.add(callKey(index, open));
      this.open.set(index, new GrowingCall(piece));
    }
    return false;
  }
}

/** Call whose pieces are still arriving. */
class GrowingCall implements CallPiece {
  id = '';
  name = '';
  args = '';
  private depth = 0;
  private inString = false;
  private escaped = false;

  constructor(piece: CallPiece) {
    this.addPiece(piece);
  }

  /** True if all lists and objects of the arguments are closed. */
  get isComplete(): boolean {
    return this.args !== '' && this.depth === 0 && !this.inString;
  }

  addPiece({ id, name, args }: CallPiece): void {
    this.id ||= id;
    this.name ||= name;
    this.args += args;
    for (const character of args) this.readCharacter(character);
  }

  isRepeatedBy({ id, name, args }: CallPiece): boolean {
    return this.isComplete && this.id === id && this.name === name && this.args === args;
  }

  private readCharacter(character: string): void {
    if (this.escaped) this.escaped = false;
    else if (character === '"') this.inString = !this.inString;
    else if (this.inString) this.escaped = character === '\\';
    else if (character === '{' || character === '[') this.depth += 1;
    else if (character === '}' || character === ']') this.depth -= 1;
  }
}

function callKey(index: number, { id, name, args }: CallPiece): string {
  return JSON.stringify([index, id, name, args]);
}

function pieceText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
