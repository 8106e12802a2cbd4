import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { AgentDeclaration } from '#libs/agents';
import type { A2AErrorReason, Artifact, JsonValue, Part } from '#libs/protocol';

/** Maximum number of RE2 instructions in all cached expressions of this process together. */
const MOST_KEPT = 200_000;

/**
 * Regular expression of a script. Equal expressions share one compiled form in a cache, which evicts the least recently
 * used ones.
 */
export class ScriptExpression {
  private constructor(
    private readonly pattern: string,
    /** Number of instructions of the compiled expression. */
    readonly size: number,
  ) {}

  /** Compiles a regular expression. @throws if RE2 does not support it */
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

/** Step of a scripted agent, with exactly one key (docs/SCRIPTS.md). */
export type ScriptStep =
  | { status: 'working'; text?: string }
  | { artifact: Partial<Artifact> & { parts: Part[]; append?: boolean; lastChunk?: boolean } }
  | { echo: true }
  /** Waits for a number of milliseconds. */
  | { sleep: number }
  | { reply: Part[] }
  | { ask: string }
  | { authorize: string }
  /** Ends the Task as COMPLETED, with a text. With `true` or the empty text, it has no text. */
  | { complete: string | true }
  | { fail: string }
  | { reject: string }
  /** Rejects the Message with the A2A protocol error of this reason. */
  | { throw: A2AErrorReason; text?: string };

/** Conditions of a rule. All of them must hold. */
export interface ScriptCondition {
  messageId?: ScriptExpression;
  text?: ScriptExpression;
  /** JSON that the first data Part must contain (see `isContained`); absent: no such condition. */
  data?: JsonValue;
  /** Number that the Message must have in the Task, from 1; absent: no such condition. */
  turn?: number;
}

export interface ScriptRule {
  when: ScriptCondition;
  steps: ScriptStep[];
}

/**
 * Parsed script of an agent. For each Message, the first rule whose conditions hold is run; if there is none,
 * `otherwise`.
 */
export interface Script {
  /** Members of the agent's card that differ from the defaults. */
  agent?: AgentDeclaration;
  rules: ScriptRule[];
  otherwise: ScriptStep[];
  /** Number of instructions of all regular expressions in the script. */
  size: number;
}
