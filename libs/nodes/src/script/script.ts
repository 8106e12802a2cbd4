import type { Artifact, Part } from '#libs/protocol';
import type { Expression } from './expression.js';

/** What a scripted agent does next: exactly one key (contract, "Scripted agent"). */
export type ScriptStep =
  | { status: 'working'; text?: string }
  | { artifact: Partial<Artifact> & { parts: Part[]; append?: boolean; lastChunk?: boolean } }
  | { echo: true }
  /** Milliseconds. */
  | { sleep: number }
  | { reply: Part[] }
  | { ask: string }
  | { authorize: string }
  /** `true` and the empty text complete without a word. */
  | { complete: string | true }
  | { fail: string }
  | { reject: string };

export interface ScriptCondition {
  messageId?: Expression;
  text?: Expression;
  turn?: number;
}

export interface ScriptRule {
  when: ScriptCondition;
  steps: ScriptStep[];
}

/** A scripted agent's program: the first rule whose conditions all hold runs. */
export interface Script {
  rules: ScriptRule[];
  otherwise: ScriptStep[];
  /** Instructions that its expressions are compiled to. */
  size: number;
}
