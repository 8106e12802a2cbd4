import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { BrainstormRole } from './role.js';

export const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const;

export type Severity = (typeof SEVERITIES)[number];

export interface PlanStep {
  title: string;
  description: string;
}

export interface Risk {
  text: string;
  severity: Severity;
  resolved: boolean;
}

/** Agent as `meta` of the state lists it. */
export interface StateAgent {
  agent_id: string;
  name: string;
  role: BrainstormRole;
  provider: string;
  model: string;
  skills: string[];
}

/** State that the agents of a brainstorm share, in the only form that is sent, stored and shown. */
export interface CanonicalState {
  idea: string;
  architecture: string;
  execution_plan: PlanStep[];
  risks: Risk[];
  assumptions: string[];
  open_questions: string[];
  /** `confidence` is from 0 to 1. */
  metrics: { confidence: number };
  /** Facts that the service alone writes. A `meta` in an agent's answer is ignored. */
  meta: { iteration: number; agents: StateAgent[] };
}

/** Part of the state that agents may change. */
export type StateContent = Omit<CanonicalState, 'meta'>;

/** Maximum entries of each list of a state. An answer with a longer list is refused; a merge truncates the list. */
export const MOST_ENTRIES = 1000;
/** Maximum characters of each text of a state. */
const MOST_CHARACTERS = 100_000;

const text = z.string().max(MOST_CHARACTERS);
const words = text.regex(/\S/, 'must not be empty');
const boundedList = <T extends z.ZodType>(entry: T) => z.array(entry).max(MOST_ENTRIES);

/** Rules for the state in an agent's answer. The JSON Schemas that agents get are derived from them. */
const STATE_RULES = z.object({
  idea: words.describe('The idea, as it is understood by now'),
  architecture: text.describe('Parts, how they work together, and why'),
  execution_plan: boundedList(z.object({ title: words, description: text })).describe(
    'Steps in the order in which they are taken; a step described in fewer than 10 words is dropped',
  ),
  risks: boundedList(
    z.object({
      text: words,
      severity: z.preprocess((value) => (typeof value === 'string' ? value.toLowerCase() : value), z.enum(SEVERITIES)),
      resolved: z.boolean(),
    }),
  ).describe('What may go wrong; a risk that is resolved is dropped'),
  assumptions: boundedList(text).describe('What is taken for granted'),
  open_questions: boundedList(text).describe('What has yet to be answered'),
  metrics: z.object({ confidence: z.number().min(0).max(1).describe('Confidence in the whole state') }),
});

/** Lists of a state that an answer may leave out. A list that is left out stays as it was. */
const STATE_LISTS = ['execution_plan', 'risks', 'assumptions', 'open_questions'] as const;

/** Error of a value that is not a valid state. Its message names each field at fault, at most ten. */
export class InvalidState extends Error {
  override readonly name = 'InvalidState';
}

/** Rule of the state that a value breaks. */
interface StateFault {
  /** Path in the state, such as `.risks[0].severity`; `''` for the state itself. */
  path: string;
  detail: string;
}

/**
 * Reads the state in an agent's answer. Unknown members and `meta` are dropped.
 * @param before state that the agent was sent, from which missing lists are taken; without it a missing list is a fault
 * @throws InvalidState
 */
export function readState(value: JsonValue, before?: StateContent): StateContent {
  const { state, faults } = checkState(value, before);
  if (state) return state;
  const named = faults.slice(0, MOST_FAULTS).map(({ path, detail }) => `${fieldName(path)}: ${detail}`);
  throw new InvalidState(named.join('; '));
}

/**
 * Returns the rules that a value breaks, for which `readState` refuses it; empty for a valid state.
 * @param before state that the agent was sent, from which missing lists are taken
 */
export function stateFaults(value: JsonValue, before?: StateContent): StateFault[] {
  return checkState(value, before).faults;
}

function checkState(value: JsonValue, before?: StateContent): { state?: StateContent; faults: StateFault[] } {
  const read = STATE_RULES.safeParse(before && isJsonObject(value) ? withLists(value, before) : value);
  if (read.success) return { state: read.data, faults: [] };
  return { faults: read.error.issues.map((issue) => ({ path: issuePath(issue.path), detail: describeRule(issue) })) };
}

function withLists(value: JsonObject, before: StateContent): JsonObject {
  const missing = STATE_LISTS.filter((name) => value[name] === undefined);
  return { ...value, ...(Object.fromEntries(missing.map((name) => [name, before[name]])) as unknown as JsonObject) };
}

/** Maximum faults that the message of an InvalidState names. */
const MOST_FAULTS = 10;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** Describes a broken rule in the service's own words, which do not expose the validation library. */
function describeRule(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? 'of another type'}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big': {
      const what = issue.origin === 'string' ? ' characters' : issue.origin === 'array' ? ' entries' : '';
      return `must be at most ${issue.maximum}${what}`;
    }
    case 'invalid_format':
      return issue.message;
    default:
      return 'is not valid';
  }
}

/** Returns the state before the first pass. */
export function initialState(idea: string, agents: StateAgent[]): CanonicalState {
  return {
    idea,
    architecture: '',
    execution_plan: [],
    risks: [],
    assumptions: [],
    open_questions: [],
    metrics: { confidence: 0 },
    meta: { iteration: 0, agents },
  };
}

/** Returns a state as JSON, exactly as it is stored. */
export function stateJson(state: CanonicalState): JsonObject {
  return state as unknown as JsonObject;
}

function issuePath(path: readonly PropertyKey[]): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
}

function fieldName(path: string): string {
  return path === '' ? 'the state' : path.replace(/^\./, '');
}

/** Maximum entries of a list, and maximum characters of a text, that agents are asked for. */
const ASKED_BOUNDS = { entries: 20, text: 600, architecture: 6_000, idea: 20_000 };
/** Values of the confidence that agents are asked for: 0 to 1 in steps of 0.05. */
const ASKED_CONFIDENCES = Array.from({ length: 21 }, (_, step) => step / 20);

/**
 * JSON Schema (draft 7) of the state that agents are asked for. It is derived from the rules of `readState` and
 * stricter than ACCEPTED_STATE_SCHEMA.
 * - Small models may repeat themselves up to the bounds of a schema, so the bounds are small.
 * - The confidence is an enumeration, because some endpoints (llama.cpp) do not enforce the range of a number.
 */
export const STATE_SCHEMA = boundSchema(schemaOf());

/**
 * JSON Schema (draft 7) of the answers that `readState` accepts: lists may be missing, unknown members are dropped, and
 * the severity of a risk may be capitalized.
 */
export const ACCEPTED_STATE_SCHEMA = acceptedSchema();

/** Example state in which every list has an entry. */
export const EXAMPLE_STATE: StateContent = {
  idea: 'A library that lends tools',
  architecture:
    'A website shows which tools are free; a room in the town hall holds them, and volunteers hand them out.',
  execution_plan: [
    {
      title: 'Open on one day a week',
      description:
        'Two volunteers hand out the first fifty donated tools each Saturday morning and note who has which.',
    },
  ],
  risks: [{ text: 'A borrower is hurt by a tool that is broken', severity: 'high', resolved: false }],
  assumptions: ['The town lends the room for free'],
  open_questions: ['Who insures the borrowers?'],
  metrics: { confidence: 0.6 },
};

function schemaOf(options: Parameters<typeof z.toJSONSchema>[1] = {}): JsonObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(STATE_RULES, { target: 'draft-7', ...options });
  return schema as JsonObject;
}

function acceptedSchema(): JsonObject {
  const { required = [], ...schema } = schemaOf({
    io: 'input',
    override: ({ jsonSchema }) => loosenSchema(jsonSchema),
  });
  const lists: readonly unknown[] = STATE_LISTS;
  return { ...schema, required: (required as string[]).filter((name) => !lists.includes(name)) };
}

/** Returns a stricter copy of a schema. @param name name of the member that has this schema, if any */
function boundSchema(schema: JsonObject, name = ''): JsonObject {
  const { properties, items } = schema;
  const longest = name === 'idea' || name === 'architecture' ? ASKED_BOUNDS[name] : ASKED_BOUNDS.text;
  return {
    ...schema,
    ...(schema['maxLength'] !== undefined && { maxLength: longest }),
    ...(schema['maxItems'] !== undefined && { maxItems: ASKED_BOUNDS.entries }),
    ...(name === 'confidence' && { enum: ASKED_CONFIDENCES }),
    ...(isJsonObject(items) && { items: boundSchema(items) }),
    ...(isJsonObject(properties) && { properties: boundMembers(properties) }),
  };
}

function boundMembers(properties: JsonObject): JsonObject {
  const bounded = Object.entries(properties).map(([name, it]) => [name, isJsonObject(it) ? boundSchema(it, name) : it]);
  return Object.fromEntries(bounded) as JsonObject;
}

/**
 * Relaxes a part of the schema in place: an enumeration also accepts capitalized and uppercase words, and a pattern
 * becomes a minimum length, since checking a pattern over long texts could take too long. May be called repeatedly
 * for the same part.
 */
function loosenSchema(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.enum)
    schema.enum = [...new Set(schema.enum.filter((word) => typeof word === 'string').flatMap(listSpellings))];
  if (schema.pattern === undefined) return;
  delete schema.pattern;
  schema.minLength = 1;
}

function listSpellings(word: string): string[] {
  return [word, word.charAt(0).toUpperCase() + word.slice(1), word.toUpperCase()];
}

/** Agent that last set a part of the merged state. */
export interface Source {
  agent: string;
  role: BrainstormRole;
  /** Iteration (pass) in which the agent set the part, from 1. */
  iteration: number;
}

/**
 * Sources of the state's parts by path (`architecture`, `risks[0]`, `metrics.confidence`). Parts that no agent has set
 * are absent.
 */
export type Provenance = Record<string, Source>;
