import type { AgentDeclaration } from '#libs/agents';
import { SharedUse } from '#libs/expressions';
import { A2A_ERRORS, type AgentExtension, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { type Script, type ScriptCondition, ScriptExpression, type ScriptRule, type ScriptStep } from './script.js';

/** Pattern of a media type or a range of media types, such as `image/*`. */
export const MEDIA_TYPE = /^(\*|[\w!#$&^.+-]{1,127})\/(\*|[\w!#$&^.+-]{1,127})$/;
/** Maximum number of entries in a list of `agent`, such as `inputModes`. */
export const MOST_ENTRIES = 100;

type DeclarationRule = (value: JsonValue) => string | undefined;

/**
 * Rules for the members of `agent`. A rule is a function that returns the problem of a value; `undefined` if it is
 * valid.
 */
const KEYS: Readonly<Record<string, DeclarationRule>> = {
  inputModes: modesProblem,
  outputModes: modesProblem,
  streaming: flagProblem,
  pushNotifications: flagProblem,
  extensions: (value) => listProblem(value, isExtension, 'extensions, each with a uri'),
};
const EXTENSION_KEYS = ['uri', 'description', 'required', 'params'];

/** Returns the problems of a script's member `agent`, as sentences without the path of the member. */
function declarationProblems(json: JsonValue | undefined): string[] {
  if (json === undefined) return [];
  if (!isJsonObject(json)) return ['must be an object'];
  const unknown = Object.keys(json).filter((key) => !Object.hasOwn(KEYS, key));
  const problems = unknown.length > 0 ? [`has unknown members: ${unknown.join(', ')}`] : [];
  for (const [key, rule] of Object.entries(KEYS)) {
    const problem = json[key] === undefined ? undefined : rule(json[key]);
    if (problem !== undefined) problems.push(`${key} ${problem}`);
  }
  return problems;
}

/**
 * Converts a script's member `agent`, which must be valid, to the declaration for the agent's card; `undefined` if the
 * script has no such member.
 */
function declarationOf(json: JsonValue | undefined): AgentDeclaration | undefined {
  if (!isJsonObject(json)) return undefined;
  const { inputModes, outputModes, streaming, pushNotifications, extensions } = json;
  const capabilities = {
    ...(streaming !== undefined && { streaming: streaming === true }),
    ...(pushNotifications !== undefined && { pushNotifications: pushNotifications === true }),
    ...(extensions !== undefined && { extensions: extensions as unknown as AgentExtension[] }),
  };
  return {
    ...(inputModes !== undefined && { inputModes: inputModes as string[] }),
    ...(outputModes !== undefined && { outputModes: outputModes as string[] }),
    capabilities,
  };
}

function modesProblem(value: JsonValue): string | undefined {
  return listProblem(value, (it) => typeof it === 'string' && MEDIA_TYPE.test(it), 'media types such as text/plain');
}

function flagProblem(value: JsonValue): string | undefined {
  return typeof value === 'boolean' ? undefined : 'must be true or false';
}

function listProblem(value: JsonValue, fits: (entry: JsonValue) => boolean, what: string): string | undefined {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MOST_ENTRIES;
  return isList && value.every(fits) ? undefined : `must be a list of 1 to ${MOST_ENTRIES} ${what}`;
}

function isExtension(value: JsonValue): boolean {
  if (!isJsonObject(value) || Object.keys(value).some((key) => !EXTENSION_KEYS.includes(key))) return false;
  const { uri, description, required, params } = value;
  // The header with extensions separates them by commas.
  if (typeof uri !== 'string' || !/^[^\s,]{1,500}$/.test(uri)) return false;
  return (
    hasType(description, 'string') && hasType(required, 'boolean') && (params === undefined || isJsonObject(params))
  );
}

function hasType(value: JsonObject[string] | undefined, type: 'string' | 'boolean'): boolean {
  return value === undefined || typeof value === type;
}

/** Maximum duration of the step `sleep`, in milliseconds. */
export const MAX_SLEEP_MS = 24 * 60 * 60 * 1000;
const CONTENT_KEYS = ['text', 'raw', 'url', 'data'];
/** Members that a step may have in addition to its key, by the key of the step. */
const EXTRA_KEYS: Readonly<Record<string, readonly string[]>> = { status: ['text'], throw: ['text'] };

type StepRule = (value: JsonValue, step: JsonObject) => string | undefined;

/**
 * Rules for the values of steps, by the key of the step. A rule returns the problem of a value; `undefined` if it is
 * valid.
 */
const RULES: Readonly<Record<string, StepRule>> = {
  status: (value, { text }) =>
    value === 'working' && (text === undefined || typeof text === 'string')
      ? undefined
      : 'must be "working", with a text or without',
  artifact: artifactProblem,
  echo: (value) => (value === true ? undefined : 'must be true'),
  sleep: (value) =>
    typeof value === 'number' && value >= 0 && value <= MAX_SLEEP_MS
      ? undefined
      : `must be 0 to ${MAX_SLEEP_MS} milliseconds`,
  reply: partsProblem,
  ask: textProblem,
  authorize: textProblem,
  complete: (value) =>
    typeof value === 'string' || value === true || value === null ? undefined : 'must be a text, or true for none',
  fail: textProblem,
  reject: textProblem,
  throw: (value, { text }) =>
    typeof value === 'string' && Object.hasOwn(A2A_ERRORS, value) && (text === undefined || typeof text === 'string')
      ? undefined
      : `must be one of ${Object.keys(A2A_ERRORS).join(', ')}, with a text or without`,
};

/** Returns the problem of a step, as a sentence without its path; `undefined` if the step is valid. */
function stepProblem(step: JsonValue): string | undefined {
  if (!isJsonObject(step)) return 'must be an object';
  const [key, ...others] = Object.keys(step).filter((it) => it in RULES);
  const extra = key === undefined ? [] : (EXTRA_KEYS[key] ?? []);
  const unknown = Object.keys(step).filter((it) => it !== key && !extra.includes(it) && !others.includes(it));
  if (key === undefined || others.length > 0 || unknown.length > 0) {
    return `must have exactly one of ${Object.keys(RULES).join(', ')}`;
  }
  const problem = RULES[key]?.(step[key] ?? null, step);
  return problem && `${key} ${problem}`;
}

function textProblem(value: JsonValue): string | undefined {
  return typeof value === 'string' ? undefined : 'must be a text';
}

function artifactProblem(value: JsonValue): string | undefined {
  if (!isJsonObject(value)) return 'must be an object';
  for (const key of ['artifactId', 'name', 'description']) {
    if (value[key] !== undefined && typeof value[key] !== 'string') return `${key} must be a text`;
  }
  for (const key of ['append', 'lastChunk']) {
    if (value[key] !== undefined && typeof value[key] !== 'boolean') return `${key} must be true or false`;
  }
  return partsProblem(value.parts ?? null);
}

/**
 * Returns the reason why a value is not a list of Parts for an Artifact or a Message; `undefined` if it is such a list.
 */
export function partsProblem(value: JsonValue): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return 'must have at least one part';
  return value.every(isPart) ? undefined : `parts must each have exactly one of ${CONTENT_KEYS.join(', ')}`;
}

function isPart(part: JsonValue): boolean {
  if (!isJsonObject(part)) return false;
  const contents = CONTENT_KEYS.filter((key) => part[key] !== undefined);
  const [content = ''] = contents;
  return contents.length === 1 && (content === 'data' || typeof part[content] === 'string');
}

/** Maximum number of characters of a regular expression. */
export const MAX_PATTERN = 1_000;
/** Maximum number of problems that are reported for a script. */
const MOST_PROBLEMS = 20;

/** Limits for the rules and the regular expressions of scripts. */
export type ScriptLimits = Pick<ContentLimits, 'scriptRules' | 'expressions' | 'expressionSize'>;

/** Error of an invalid script. The message has all problems. */
export class InvalidScript extends Error {
  override readonly name = 'InvalidScript';
  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
  }
}

/**
 * Returns the problems of a script, at most 20. A problem is one sentence, beginning with the path of the member at
 * fault.
 * @param use sums of the sizes of regular expressions in the workflow; those of this script are added
 */
export function scriptProblems(
  json: JsonValue | undefined,
  limits: ScriptLimits = DEFAULT_CONTENT_LIMITS,
  use = new SharedUse(),
): string[] {
  return new ScriptReader(limits, use).readScript(json).problems;
}

/** Parses a script. @throws InvalidScript */
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

  /** Returns the rules of the script; an empty list if there are more rules than allowed. */
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

  /**
   * Adds an amount to the sum of all scripts in the workflow, and checks the limit of that sum. Beyond the limit, adds
   * a problem; no further expression is compiled.
   * @param unit kind of the amount, as the problem names it
   * @param variable environment variable that sets the limit
   * @returns true if the limit is exceeded
   */
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
