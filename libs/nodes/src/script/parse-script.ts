import { SharedUse } from '#libs/expressions';
import { isJsonObject, type JsonValue } from '#libs/protocol';
import { type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { declarationOf, declarationProblems } from './declaration.js';
import { ScriptExpression } from './expression.js';
import type { Script, ScriptCondition, ScriptRule, ScriptStep } from './script.js';
import { stepProblem } from './step-problem.js';

export const MAX_PATTERN = 1_000;
/** Maximum number of reported problems of a script. */
const MOST_PROBLEMS = 20;

/** Limits of scripts. */
export type ScriptLimits = Pick<ContentLimits, 'scriptRules' | 'expressions' | 'expressionSize'>;

/** Error of a script that cannot be read; the message names every problem. */
export class InvalidScript extends Error {
  override readonly name = 'InvalidScript';
  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
  }
}

/**
 * Returns the problems of a script, at most 20: one sentence each, beginning with its path.
 * @param use shared limits of the script's workflow
 */
export function scriptProblems(
  json: JsonValue | undefined,
  limits: ScriptLimits = DEFAULT_CONTENT_LIMITS,
  use = new SharedUse(),
): string[] {
  return new ScriptReader(limits, use).readScript(json).problems;
}

/** @throws InvalidScript */
export function parseScript(json: JsonValue | undefined, limits: ScriptLimits = DEFAULT_CONTENT_LIMITS): Script {
  const { script, problems } = new ScriptReader(limits, new SharedUse()).readScript(json);
  if (problems.length > 0) throw new InvalidScript(problems);
  return script;
}

class ScriptReader {
  readonly #problems: string[] = [];
  #size = 0;
  #exhausted = false;

  constructor(
    private readonly limits: ScriptLimits,
    private readonly use: SharedUse,
  ) {}

  readScript(json: JsonValue | undefined): { script: Script; problems: string[] } {
    const script: Script = { rules: [], otherwise: [], size: 0 };
    if (!isJsonObject(json)) {
      this.#problems.push('script must be an object with rules and otherwise');
    } else {
      this.#unknownKeys('script', json, ['agent', 'rules', 'otherwise']);
      const wrong = declarationProblems(json.agent);
      this.#problems.push(...wrong.map((problem) => `agent ${problem}`));
      const agent = wrong.length === 0 ? declarationOf(json.agent) : undefined;
      if (agent) script.agent = agent;
      script.rules = this.#readRules(json.rules).map((rule, index) => this.#readRule(`rules[${index}]`, rule));
      script.otherwise = this.#readSteps('otherwise', json.otherwise);
    }
    script.size = this.#size;
    return { script, problems: this.#problems.slice(0, MOST_PROBLEMS) };
  }

  /** Returns the rules; none if they exceed the limit. */
  #readRules(json: JsonValue | undefined): JsonValue[] {
    const rules = this.#readList('rules', json);
    const { scriptRules } = this.limits;
    if (rules.length <= scriptRules) return rules;
    this.#problems.push(`rules must not have more than ${scriptRules} entries (SCRIPT_RULES_LIMIT)`);
    return [];
  }

  #readRule(place: string, json: JsonValue): ScriptRule {
    if (!isJsonObject(json)) {
      this.#problems.push(`${place} must be an object`);
      return { when: {}, steps: [] };
    }
    this.#unknownKeys(place, json, ['when', 'steps']);
    return {
      when: this.#readCondition(`${place}.when`, json.when),
      steps: this.#readSteps(`${place}.steps`, json.steps),
    };
  }

  #readCondition(place: string, json: JsonValue | undefined): ScriptCondition {
    if (json === undefined) return {};
    if (!isJsonObject(json)) {
      this.#problems.push(`${place} must be an object`);
      return {};
    }
    this.#unknownKeys(place, json, ['messageId', 'text', 'data', 'turn']);
    const messageId = this.#readPattern(`${place}.messageId`, json.messageId);
    const text = this.#readPattern(`${place}.text`, json.text);
    const { turn, data } = json;
    const isTurn = Number.isInteger(turn) && Number(turn) >= 1;
    if (turn !== undefined && !isTurn) this.#problems.push(`${place}.turn must be a whole number from 1`);
    return {
      ...(messageId && { messageId }),
      ...(text && { text }),
      ...(data !== undefined && { data }),
      ...(isTurn && { turn: Number(turn) }),
    };
  }

  #readPattern(place: string, json: JsonValue | undefined): ScriptExpression | undefined {
    if (json === undefined) return undefined;
    if (typeof json !== 'string' || json.length > MAX_PATTERN) {
      this.#problems.push(`${place} must be a regular expression of at most ${MAX_PATTERN} characters`);
      return undefined;
    }
    if (this.#exhausted || this.#isTooMuch('characters', json.length, this.limits.expressions, 'EXPRESSIONS_LIMIT'))
      return undefined;
    try {
      const expression = ScriptExpression.compilePattern(json);
      this.#size += expression.size;
      this.#isTooMuch('instructions', expression.size, this.limits.expressionSize, 'EXPRESSION_SIZE_LIMIT');
      return expression;
    } catch {
      this.#problems.push(`${place} is not a regular expression that RE2 knows`);
      return undefined;
    }
  }

  /** Counts toward the limit of the whole workflow. Beyond it, no further expression is compiled. */
  #isTooMuch(unit: string, amount: number, limit: number, variable: string): boolean {
    if (this.use.add(`expressions: ${unit}`, amount) <= limit) return false;
    this.#exhausted = true;
    this.#problems.push(`the regular expressions of the workflow have more than ${limit} ${unit} (${variable})`);
    return true;
  }

  #readSteps(place: string, json: JsonValue | undefined): ScriptStep[] {
    return this.#readList(place, json).filter((step, index) => {
      const problem = stepProblem(step);
      if (problem !== undefined) this.#problems.push(`${place}[${index}] ${problem}`);
      return problem === undefined;
    }) as unknown as ScriptStep[];
  }

  #readList(place: string, json: JsonValue | undefined): JsonValue[] {
    if (json === undefined) return [];
    if (Array.isArray(json)) return json;
    this.#problems.push(`${place} must be a list`);
    return [];
  }

  #unknownKeys(place: string, json: object, known: string[]): void {
    const unknown = Object.keys(json).filter((key) => !known.includes(key));
    if (unknown.length > 0) this.#problems.push(`${place} has unknown members: ${unknown.join(', ')}`);
  }
}
