import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import type { Role } from './role.js';

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

/** An agent as `meta` names it. */
export interface StateAgent {
  agent_id: string;
  name: string;
  role: Role;
  provider: string;
  model: string;
  skills: string[];
}

/** What the agents of a brainstorm work on together; the one form of it that is sent, kept and shown. */
export interface CanonicalState {
  idea: string;
  architecture: string;
  execution_plan: PlanStep[];
  risks: Risk[];
  assumptions: string[];
  open_questions: string[];
  /** `confidence` is 0 to 1. */
  metrics: { confidence: number };
  /** Only the service writes it: what an agent sends here is ignored. */
  meta: { iteration: number; agents: StateAgent[] };
}

/** The state as an agent may change it. */
export type StateContent = Omit<CanonicalState, 'meta'>;

/** Of each list; what is more than that is refused, and left out of a merge. */
export const MOST_ENTRIES = 1000;
const MOST_CHARACTERS = 100_000;

const text = z.string().max(MOST_CHARACTERS);
const words = text.regex(/\S/, 'must not be empty');
const list = <T extends z.ZodType>(entry: T) => z.array(entry).max(MOST_ENTRIES);

/** Rules that an answer is held to; the schemas that agents are told are made from them. */
export const STATE_RULES = z.object({
  idea: words.describe('The idea, as it is understood by now'),
  architecture: text.describe('Parts, how they work together, and why'),
  execution_plan: list(z.object({ title: words, description: text })).describe(
    'Steps in the order in which they are taken; a step described in fewer than 10 words is dropped',
  ),
  risks: list(
    z.object({
      text: words,
      severity: z.preprocess((value) => (typeof value === 'string' ? value.toLowerCase() : value), z.enum(SEVERITIES)),
      resolved: z.boolean(),
    }),
  ).describe('What may go wrong; a risk that is resolved is dropped'),
  assumptions: list(text).describe('What is taken for granted'),
  open_questions: list(text).describe('What has yet to be answered'),
  metrics: z.object({ confidence: z.number().min(0).max(1).describe('Confidence in the whole state') }),
});

/** Members of a state that an answer may leave out: a list that is missing is unchanged. */
export const STATE_LISTS = ['execution_plan', 'risks', 'assumptions', 'open_questions'] as const;

/** A state that is not one; the message names each field at fault, at most ten of them. */
export class InvalidState extends Error {
  override readonly name = 'InvalidState';
}

/** A rule of the state that a value breaks. */
interface StateFault {
  /** From the state on, such as `.risks[0].severity`; `''` for the state itself. */
  path: string;
  detail: string;
}

/**
 * Reads the state that an agent answers. Members that a state does not have are left out, and so is `meta`.
 * @param before the state that the agent was sent, from which missing lists are taken; absent: a missing list is a fault
 * @throws InvalidState
 */
export function readState(value: JsonValue, before?: StateContent): StateContent {
  const { state, faults } = checked(value, before);
  if (state) return state;
  const named = faults.slice(0, MOST_FAULTS).map(({ path, detail }) => `${fieldOf(path)}: ${detail}`);
  throw new InvalidState(named.join('; '));
}

/** Returns why `readState` refuses a value; nothing for a state. */
export function stateFaults(value: JsonValue, before?: StateContent): StateFault[] {
  return checked(value, before).faults;
}

function checked(value: JsonValue, before?: StateContent): { state?: StateContent; faults: StateFault[] } {
  const read = STATE_RULES.safeParse(before && isJsonObject(value) ? withLists(value, before) : value);
  if (read.success) return { state: read.data, faults: [] };
  return { faults: read.error.issues.map((issue) => ({ path: pathOf(issue.path), detail: ruleOf(issue) })) };
}

function withLists(value: JsonObject, before: StateContent): JsonObject {
  const missing = STATE_LISTS.filter((name) => value[name] === undefined);
  return { ...value, ...(Object.fromEntries(missing.map((name) => [name, before[name]])) as unknown as JsonObject) };
}

const MOST_FAULTS = 10;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** What a member must be, in our words: those of the library that checks are nobody's business. */
function ruleOf(issue: z.core.$ZodIssue): string {
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

/** The state before the first pass. */
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

/** The state as JSON; what is sent of it is exactly what is kept. */
export function stateJson(state: CanonicalState): JsonObject {
  return state as unknown as JsonObject;
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
}

function fieldOf(path: string): string {
  return path === '' ? 'the state' : path.replace(/^\./, '');
}
