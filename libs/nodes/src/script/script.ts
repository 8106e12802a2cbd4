import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { AgentDeclaration } from '#libs/executor';
import type { A2AErrorReason, Artifact, JsonValue, Part } from '#libs/protocol';

/** Maximum number of instructions of all compiled expressions in this process. */
const MOST_KEPT = 200_000;

/** Regular expression of a script. Equal expressions share one compiled form; the least recently used ones are evicted. */
export class ScriptExpression {
  private constructor(
    private readonly pattern: string,
    /** Number of compiled instructions. */
    readonly size: number,
  ) {}

  /** Compiles a pattern. @throws if RE2 does not support it */
  static compilePattern(pattern: string): ScriptExpression {
    return new ScriptExpression(pattern, COMPILED.memo(pattern).programSize());
  }

  matchesText(text: string): boolean {
    return COMPILED.memo(this.pattern).test(text);
  }
}

const COMPILED = new LRUCache<string, RE2JS>({
  maxSize: MOST_KEPT,
  sizeCalculation: (compiled) => compiled.programSize(),
  memoMethod: (pattern) => RE2JS.compile(pattern),
});

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
