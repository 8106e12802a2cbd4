import { RE2JS } from 're2js';
import { isJsonObject, type JsonValue } from '#libs/protocol';
import type { Script, ScriptCondition, ScriptRule, ScriptStep } from './script.js';
import { stepProblem } from './step-problem.js';

const MAX_PATTERN = 1_000;

/** A script that could not be read; the message names every problem. */
export class InvalidScript extends Error {
  override readonly name = 'InvalidScript';
  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
  }
}

/** Every problem of a script, each as one sentence that begins with its place; empty where it can be run. */
export function scriptProblems(json: JsonValue | undefined): string[] {
  return new ScriptReader().read(json).problems;
}

/** @throws InvalidScript */
export function parseScript(json: JsonValue | undefined): Script {
  const { script, problems } = new ScriptReader().read(json);
  if (problems.length > 0) throw new InvalidScript(problems);
  return script;
}

class ScriptReader {
  readonly #problems: string[] = [];

  read(json: JsonValue | undefined): { script: Script; problems: string[] } {
    const script: Script = { rules: [], otherwise: [] };
    if (!isJsonObject(json)) {
      this.#problems.push('script must be an object with rules and otherwise');
    } else {
      this.#unknownKeys('script', json, ['rules', 'otherwise']);
      script.rules = this.#list('rules', json.rules).map((rule, index) => this.#rule(`rules[${index}]`, rule));
      script.otherwise = this.#steps('otherwise', json.otherwise);
    }
    return { script, problems: this.#problems };
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
    this.#unknownKeys(place, json, ['messageId', 'text', 'turn']);
    const messageId = this.#pattern(`${place}.messageId`, json.messageId);
    const text = this.#pattern(`${place}.text`, json.text);
    const { turn } = json;
    const isTurn = Number.isInteger(turn) && Number(turn) >= 1;
    if (turn !== undefined && !isTurn) this.#problems.push(`${place}.turn must be a whole number from 1`);
    return { ...(messageId && { messageId }), ...(text && { text }), ...(isTurn && { turn: Number(turn) }) };
  }

  #pattern(place: string, json: JsonValue | undefined): RE2JS | undefined {
    if (json === undefined) return undefined;
    if (typeof json !== 'string' || json.length > MAX_PATTERN) {
      this.#problems.push(`${place} must be a regular expression of at most ${MAX_PATTERN} characters`);
      return undefined;
    }
    try {
      return RE2JS.compile(json);
    } catch {
      this.#problems.push(`${place} is not a regular expression that RE2 knows`);
      return undefined;
    }
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
