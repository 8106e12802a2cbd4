import type { JsonValue } from '#libs/protocol';
import {
  isCutPiece,
  numbersOf,
  parseLines,
  type PromptLine,
  type PromptOutcome,
  type SentPrompt,
} from './prompt-records.js';

/** Maximum number of bytes of the texts (PromptLine.pieces) of one call that are returned together. */
const MOST_BYTES = 2 * 1024 * 1024;

/** Stored model call of a Task, without the texts that were sent and received. */
export interface KeptCall {
  /** Number of the call in the Task, from 1. Unlike `step`, it is different for each repetition. */
  call: number;
  step: number;
  model: string;
  provider?: string;
  providerModel?: string;
  /** Time of the request (ISO 8601). */
  sentAt: string;
  /** Number of messages that were sent, without the system prompt. */
  messages: number;
  /** Milliseconds from the request to the end of the answer; absent while the call is open, or after a crash. */
  ms?: number;
  reason?: string;
  usage?: PromptOutcome['usage'];
  note?: string;
  error?: string;
  /** True if a text of the call was too large to store whole. */
  cut?: true;
}

/**
 * Stored model call of a Task with its texts. A text that was truncated is an object with the members `cut` and
 * `start`.
 */
export interface KeptCallTexts extends KeptCall {
  sent: Pick<SentPrompt, 'temperature' | 'maxTokens'> & {
    system?: JsonValue;
    messages: JsonValue[];
    tools?: JsonValue;
    output?: JsonValue;
  };
  /** Answer of the model; absent while there is none. */
  received?: JsonValue;
}

interface CallLines {
  sent: PromptLine;
  received?: PromptLine;
}

/** Model calls of one Task, read from the rows in which the executions of the Task have stored them. */
export class KeptPrompts {
  private readonly pieces: JsonValue[] = [];
  private readonly lines: CallLines[] = [];
  /** True if the stored calls may be incomplete, because the Task may have made further calls that were not stored. */
  readonly isCut: boolean;

  constructor(rows: readonly string[]) {
    let isCut = false;
    for (const line of parseLines(rows)) {
      this.pieces.push(...(line.pieces ?? []));
      isCut ||= line.last === true;
      if (line.kind === 'sent') this.lines.push({ sent: line });
      else this.addOutcome(line);
    }
    this.isCut = isCut;
  }

  /** Model calls in order, without their texts. */
  get calls(): KeptCall[] {
    return this.lines.map((lines, index) => toCall(lines, index + 1));
  }

  /** Returns a call with its texts; `undefined` if there is no call of that number. */
  findCall(call: number): KeptCallTexts | undefined {
    const lines = this.lines[call - 1];
    if (!lines) return undefined;
    const { sent, received } = lines;
    const texts = new CallTexts(this.pieces);
    const { temperature, maxTokens } = sent;
    const found = {
      sent: {
        ...(temperature !== undefined && { temperature }),
        ...(maxTokens !== undefined && { maxTokens }),
        ...(sent.system !== undefined && { system: texts.readPiece(sent.system) }),
        messages: messageNumbers(sent).map((number) => texts.readPiece(number)),
        ...(sent.tools !== undefined && { tools: texts.readPiece(sent.tools) }),
        ...(sent.output !== undefined && { output: texts.readPiece(sent.output) }),
      },
      ...(received?.message !== undefined && { received: texts.readPiece(received.message) }),
    };
    return { ...toCall(lines, call), ...(texts.isCut && { cut: true }), ...found };
  }

  private addOutcome(line: PromptLine): void {
    const open = this.lines.findLast(
      ({ sent, received }) => !received && sent.step === line.step && sent.model === line.model,
    );
    if (open) open.received = line;
  }
}

/** Collects the texts (pieces) of one call, up to MOST_BYTES together: a call may repeat a large text many times. */
class CallTexts {
  isCut = false;
  private bytes = 0;

  constructor(private readonly pieces: readonly JsonValue[]) {}

  readPiece(number: number): JsonValue {
    const piece = this.pieces[number];
    if (piece === undefined || isCutPiece(piece)) {
      this.isCut = true;
      return piece === undefined ? { cut: 0, start: '' } : { cut: piece.cut, start: piece.start };
    }
    const bytes = Buffer.byteLength(JSON.stringify(piece));
    if (this.bytes + bytes > MOST_BYTES) {
      this.isCut = true;
      return { cut: bytes, start: '' };
    }
    this.bytes += bytes;
    return piece;
  }
}

function messageNumbers({ messages }: PromptLine): number[] {
  return messages === undefined || messages === '' ? [] : numbersOf(messages);
}

function toCall({ sent, received }: CallLines, call: number): KeptCall {
  const { step, model, provider, providerModel, at = '' } = sent;
  const { ms, reason, usage, note, error } = received ?? {};
  return {
    call,
    step,
    model,
    ...(provider !== undefined && { provider }),
    ...(providerModel !== undefined && { providerModel }),
    sentAt: at,
    messages: messageNumbers(sent).length,
    ...(ms !== undefined && { ms }),
    ...(reason !== undefined && { reason }),
    ...(usage && { usage }),
    ...(note !== undefined && { note }),
    ...(error !== undefined && { error }),
    ...((sent.cut ?? received?.cut) && { cut: true }),
  };
}
