import { canonicalJson, dataPart, type JsonValue, type Part, textPart } from '#libs/protocol';
import type { ReportedAnswer } from './work-log.js';

/** What is to be told of an answer. Without `append` it takes the place of what was told. */
export interface AnswerPiece {
  parts: Part[];
  append: boolean;
}

/**
 * The answer of work that may be executed again: what was told before is not told again, and where the work says
 * something else than it did then, that takes its place.
 */
export class AnswerInTurn {
  /** What this execution has said, until it says more than was told. */
  private said = '';
  private isBeyond: boolean;
  private exists: boolean;

  /** @param reported before this execution */
  constructor(private readonly reported: ReportedAnswer | undefined) {
    this.isBeyond = reported === undefined;
    this.exists = reported !== undefined;
  }

  /** @returns what is to be told now, if anything */
  say(text: string): AnswerPiece | undefined {
    if (text === '') return undefined;
    if (this.isBeyond) return this.piece([textPart(text)]);
    const place = this.said.length;
    this.said += text;
    const before = this.reported!.text;
    if (before.startsWith(text, place)) return undefined;
    this.isBeyond = true;
    const goesOn = this.said.length > before.length && this.said.startsWith(before);
    return goesOn ? this.piece([textPart(this.said.slice(before.length))]) : this.instead();
  }

  /** The end of the answer. @param value what it comes to beside its text */
  end(value?: JsonValue): AnswerPiece | undefined {
    const isShorter = !this.isBeyond && this.said.length < this.reported!.text.length;
    if (value === undefined) return isShorter ? this.instead() : undefined;
    const known = this.isBeyond ? undefined : this.reported?.value;
    if (!isShorter && known === canonicalJson(value)) return undefined;
    return isShorter || known !== undefined ? this.instead(dataPart(value)) : this.piece([dataPart(value)]);
  }

  private instead(...more: Part[]): AnswerPiece {
    this.exists = false;
    const parts = this.said === '' && more.length > 0 ? more : [textPart(this.said), ...more];
    return this.piece(parts);
  }

  private piece(parts: Part[]): AnswerPiece {
    const append = this.exists;
    this.exists = true;
    return { parts, append };
  }
}
