import { SharedUse } from '#libs/expressions';
import { isJsonObject, type JsonValue } from '#libs/protocol';
import { type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { declarationOf, declarationProblems } from './declaration.js';
import { Expression } from './expression.js';
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
  return new ScriptReader(limits, use).read(json).problems;
}

/** @throws InvalidScript */
export function parseScript(json: JsonValue | undefined, limits: ScriptLimits = DEFAULT_CONTENT_LIMITS): Script {
  const { script, problems } = new ScriptReader(limits, new SharedUse()).read(json);
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

  read(json: JsonValue | undefined): { script: Script; problems: string[] } {
    const script: Script = { rules: [], otherwise: [], size: 0 };
    if (!isJsonObject(json)) {
      this.#problems.push('script must be an object with rules and otherwise');
    } else {
      this.#unknownKeys('script', json, ['agent', 'rules', 'otherwise']);
      const wrong = declarationProblems(json.agent);
      this.#problems.push(...wrong.map((problem) => `agent ${problem}`));
      const agent = wrong.length === 0 ? declarationOf(json.agent) : undefined;
      if (agent) script.agent = agent;
      script.rules = this.#rules(json.rules).map((rule, index) => this.#rule(`rules[${index}]`, rule));
      script.otherwise = this.#steps('otherwise', json.otherwise);
    }
    script.size = this.#size;
    return { script, problems: this.#problems.slice(0, MOST_PROBLEMS) };
  }

  /** Returns the rules; none if they exceed the limit. */
  #rules(json: JsonValue | undefined): JsonValue[] {
    const rules = this.#list('rules', json);
    const { scriptRules } = this.limits;
    if (rules.length <= scriptRules) return rules;
    this.#problems.push(`rules must not have more than ${scriptRules} entries (SCRIPT_RULES_LIMIT)`);
    return [];
  }

  #rule(place: string, json: JsonValue): ScriptRule {
    if (!isJsonObject(json)) {
      this.#problems.push(`${place} must be an object`);
      return { when: {}, steps: [] };
    }
    this.#unknownKeys(place, json, ['when', 'steps']);
    return { when: this.#condition(`${place}.when`, json.when), steps: this.#steps(`${place}.steps`, json.steps) };
  }

  #condition(place: string, json: JsonValue | undefined): ScriptCondition {
    if (json === undefined) return {};
    if (!isJsonObject(json)) {
      this.#problems.push(`${place} must be an object`);
      return {};
    }
    this.#unknownKeys(place, json, ['messageId', 'text', 'data', 'turn']);
    const messageId = this.#pattern(`${place}.messageId`, json.messageId);
    const text = this.#pattern(`${place}.text`, json.text);
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

  #pattern(place: string, json: JsonValue | undefined): Expression | undefined {
    if (json === undefined) return undefined;
    if (typeof json !== 'string' || json.length > MAX_PATTERN) {
      this.#problems.push(`${place} must be a regular expression of at most ${MAX_PATTERN} characters`);
      return undefined;
    }
    if (this.#exhausted || this.#isTooMuch('characters', json.length, this.limits.expressions, 'EXPRESSIONS_LIMIT'))
      return undefined;
    try {
      const expression = Expression.of(json);
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

  #steps(place: string, json: JsonValue | undefined): ScriptStep[] {
    return this.#list(place, json).filter((step, index) => {
      const problem = stepProblem(step);
      if (problem !== undefined) this.#problems.push(`${place}[${index}] ${problem}`);
      return problem === undefined;
    }) as unknown as ScriptStep[];
  }

  #list(place: string, json: JsonValue | undefined): JsonValue[] {
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
