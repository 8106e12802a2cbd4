import { canonicalJson, dataPart, type JsonValue, type Part, textPart } from '#libs/protocol';
import type { ReportedAnswer } from './work-log.js';

/** Piece of an answer to report. Without `append` it replaces what was reported. */
export interface AnswerPiece {
  parts: Part[];
  append: boolean;
}

/**
 * Answer of work that may be executed again. Text that was reported before is not reported again. If the work gives
 * another text than before, that text replaces it.
 */
export class AnswerInTurn {
  /** Text of this execution, until it exceeds what was reported. */
  private said = '';
  private isBeyond: boolean;
  private exists: boolean;

  /** @param reported answer reported by earlier executions */
  constructor(private readonly reported: ReportedAnswer | undefined) {
    this.isBeyond = reported === undefined;
    this.exists = reported !== undefined;
  }

  /** Adds text. @returns the piece to report now, if any */
  appendText(text: string): AnswerPiece | undefined {
    if (text === '') return undefined;
    if (this.isBeyond) return this.createPiece([textPart(text)]);
    const place = this.said.length;
    this.said += text;
    const before = this.reported!.text;
    if (before.startsWith(text, place)) return undefined;
    this.isBeyond = true;
    const goesOn = this.said.length > before.length && this.said.startsWith(before);
    return goesOn ? this.createPiece([textPart(this.said.slice(before.length))]) : this.replaceAnswer();
  }

  /** Ends the answer. @param value result of the work beside its text */
  endAnswer(value?: JsonValue): AnswerPiece | undefined {
    const isShorter = !this.isBeyond && this.said.length < this.reported!.text.length;
    if (value === undefined) return isShorter ? this.replaceAnswer() : undefined;
    const known = this.isBeyond ? undefined : this.reported?.value;
    if (!isShorter && known === canonicalJson(value)) return undefined;
    return isShorter || known !== undefined ? this.replaceAnswer(dataPart(value)) : this.createPiece([dataPart(value)]);
  }

  private replaceAnswer(...more: Part[]): AnswerPiece {
    this.exists = false;
    const parts = this.said === '' && more.length > 0 ? more : [textPart(this.said), ...more];
    return this.createPiece(parts);
  }

  private createPiece(parts: Part[]): AnswerPiece {
    const append = this.exists;
    this.exists = true;
    return { parts, append };
  }
}
