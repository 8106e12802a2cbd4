import type { AgentDeclaration } from '#libs/executor';
import type { A2AErrorReason, Artifact, JsonValue, Part } from '#libs/protocol';
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
  | { reject: string }
  /** The reason of an error of the protocol. */
  | { throw: A2AErrorReason; text?: string };

export interface ScriptCondition {
  messageId?: Expression;
  text?: Expression;
  /** What the first data Part has to contain. */
  data?: JsonValue;
  turn?: number;
}

export interface ScriptRule {
  when: ScriptCondition;
  steps: ScriptStep[];
}

/** A scripted agent's program: the first rule whose conditions all hold runs. */
export interface Script {
  /** What the agent's card says where that is not the usual. */
  agent?: AgentDeclaration;
  rules: ScriptRule[];
  otherwise: ScriptStep[];
  /** Instructions that its expressions are compiled to. */
  size: number;
}
