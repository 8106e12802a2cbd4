import type { AgentDeclaration } from '#libs/executor';
import type { A2AErrorReason, Artifact, JsonValue, Part } from '#libs/protocol';
import type { ScriptExpression } from './expression.js';

/** Step of a scripted agent, with exactly one key (contract, "Scripted agent"). */
export type ScriptStep =
  | { status: 'working'; text?: string }
  | { artifact: Partial<Artifact> & { parts: Part[]; append?: boolean; lastChunk?: boolean } }
  | { echo: true }
  /** Duration in milliseconds. */
  | { sleep: number }
  | { reply: Part[] }
  | { ask: string }
  | { authorize: string }
  /** Text of the completion; `true` and the empty text give none. */
  | { complete: string | true }
  | { fail: string }
  | { reject: string }
  /** Reason of a protocol error. */
  | { throw: A2AErrorReason; text?: string };

export interface ScriptCondition {
  messageId?: ScriptExpression;
  text?: ScriptExpression;
  /** JSON that the first data Part must contain. */
  data?: JsonValue;
  turn?: number;
}

export interface ScriptRule {
  when: ScriptCondition;
  steps: ScriptStep[];
}

/** Program of a scripted agent. The first rule whose conditions all hold runs. */
export interface Script {
  /** Members of the agent's card that differ from the default. */
  agent?: AgentDeclaration;
  rules: ScriptRule[];
  otherwise: ScriptStep[];
  /** Number of instructions of its compiled expressions. */
  size: number;
}
