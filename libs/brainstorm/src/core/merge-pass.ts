import {
  type CanonicalState,
  MOST_ENTRIES,
  type PlanStep,
  type Provenance,
  type Risk,
  type Source,
  type StateContent,
} from './canonical-state.js';
import { hasWords, normalizeText } from './normalised.js';

/** Minimum words of a plan step's description; a step with a shorter description is dropped. */
const FEWEST_WORDS = 10;

/** Value of a merged state with its source; the source is absent if no agent of this brainstorm set the value. */
interface Sourced<T> {
  value: T;
  source: Source | undefined;
}

/**
 * List of one kind (such as the risks) that one agent contributes to a merge, or that the state had before the pass.
 */
interface Contribution<T> {
  values: readonly T[];
  /** Returns the source of the value at an index; `undefined` if no agent set it. */
  sourceOf: (index: number) => Source | undefined;
}

/** Merges the risks of all agents by their texts. The last mention of a risk counts; a resolved risk is dropped. */
function mergeRisks(contributions: readonly Contribution<Risk>[]): Sourced<Risk>[] {
  const merged = mergeByKey(
    contributions,
    (risk) => risk.text,
    (before, next) => ({
      value: { ...next.value, text: before.value.text },
      source: sameRisk(before.value, next.value) ? before.source : next.source,
    }),
  );
  return merged.filter(({ value }) => !value.resolved);
}

/**
 * Merges the plan steps of all agents. Steps with the same title become one, with the longest description. Steps with
 * fewer than 10 words in their description are dropped.
 */
function mergePlan(contributions: readonly Contribution<PlanStep>[]): Sourced<PlanStep>[] {
  const merged = mergeByKey(
    contributions,
    (step) => step.title,
    (before, next) =>
      next.value.description.length > before.value.description.length
        ? { value: { ...before.value, description: next.value.description }, source: next.source }
        : before,
  );
  return merged.filter(({ value }) => hasWords(value.description, FEWEST_WORDS));
}

/** Merges the texts of all agents. Each text occurs once; empty texts are dropped. */
function mergeTexts(contributions: readonly Contribution<string>[]): Sourced<string>[] {
  const merged = mergeByKey(
    contributions,
    (text) => text,
    (before) => before,
  );
  return merged.filter(({ value }) => value.trim() !== '');
}

function mergeByKey<T>(
  contributions: readonly Contribution<T>[],
  keyOf: (value: T) => string,
  join: (before: Sourced<T>, next: Sourced<T>) => Sourced<T>,
): Sourced<T>[] {
  const merged = new Map<string, Sourced<T>>();
  for (const { values, sourceOf } of contributions) {
    for (const [index, value] of values.entries()) {
      const key = normalizeText(keyOf(value));
      const before = merged.get(key);
      const next = { value, source: sourceOf(index) };
      merged.set(key, before ? join(before, next) : next);
    }
  }
  return [...merged.values()];
}

function sameRisk(one: Risk, other: Risk): boolean {
  return one.severity === other.severity && one.resolved === other.resolved;
}

/** Fields with a single value, which agents may keep changing back and forth. */
const FIELDS = ['idea', 'architecture'] as const;

/** Minimum number of changes at which a field counts as changing back and forth. */
const CHANGES = 3;

/**
 * Returns a question for each field that agents keep changing back and forth: the last pass changed it, it has
 * changed in three or more passes, and it has returned to an earlier value.
 * @param states merged states in order, beginning with the initial one
 */
function toggledQuestions(states: readonly CanonicalState[]): string[] {
  return FIELDS.flatMap((field) => {
    const values = states.map((state) => normalizeText(state[field]));
    const changes = values.filter((value, index) => index > 0 && value !== values[index - 1]);
    const returned = values.some((value, index) => value !== values[index - 1] && values.indexOf(value) < index);
    const changedNow = values.length > 1 && values.at(-1) !== values.at(-2);
    if (!changedNow || changes.length < CHANGES || !returned) return [];
    return [`The agents keep changing "${field}" back and forth: what shall it be?`];
  });
}

/** Valid answer of one agent in a pass. */
export interface PassOutput {
  source: Source;
  state: StateContent;
}

/** Pass in which all agents have answered, with what its merge needs. */
export interface FinishedPass {
  iteration: number;
  /** Merged states so far, beginning with the initial one; the last is the state before this pass. */
  history: readonly CanonicalState[];
  provenance: Provenance;
  /** Answers in the order of the agents. Each agent was sent the answer of the agent before it. */
  outputs: readonly PassOutput[];
}

export interface MergedPass {
  state: CanonicalState;
  provenance: Provenance;
}

/**
 * Merges the answers of a pass into one state. Pure: the same pass always gives the same result.
 *
 * - The plan steps, risks and assumptions of all agents are united.
 * - For every other part the last answer counts, so an agent closes a question by leaving it out.
 * - A field that agents keep changing back and forth adds an open question.
 */
export function mergePass(pass: FinishedPass): MergedPass {
  const before = pass.history.at(-1);
  if (before === undefined) throw new RangeError('A pass begins with a state');
  const parts = new SourcedParts();
  const content: StateContent = {
    idea: parts.noteSource('idea', lastText(pass, before, 'idea')),
    architecture: parts.noteSource('architecture', lastText(pass, before, 'architecture')),
    execution_plan: parts.noteSources('execution_plan', mergePlan(listContributions(pass, before, 'execution_plan'))),
    risks: parts.noteSources('risks', mergeRisks(listContributions(pass, before, 'risks'))),
    assumptions: parts.noteSources('assumptions', mergeTexts(listContributions(pass, before, 'assumptions'))),
    open_questions: parts.noteSources('open_questions', openQuestions(pass, before)),
    metrics: { confidence: parts.noteSource('metrics.confidence', lastConfidence(pass, before)) },
  };
  const state = { ...content, meta: { ...before.meta, iteration: pass.iteration } };
  const asked = new Set(state.open_questions.map(normalizeText));
  const toggled = toggledQuestions([...pass.history, state]).filter((question) => !asked.has(normalizeText(question)));
  return {
    state: { ...state, open_questions: [...state.open_questions, ...toggled] },
    provenance: parts.provenance,
  };
}

/** Records the source of each part while a state is assembled. */
class SourcedParts {
  readonly provenance: Provenance = {};

  noteSource<T>(path: string, { value, source }: Sourced<T>): T {
    if (source) this.provenance[path] = source;
    return value;
  }

  noteSources<T>(path: string, entries: readonly Sourced<T>[]): T[] {
    return entries.slice(0, MOST_ENTRIES).map((entry, index) => this.noteSource(`${path}[${index}]`, entry));
  }
}

type ListField = 'execution_plan' | 'risks' | 'assumptions' | 'open_questions';

function listContributions<F extends ListField>(
  { outputs, provenance }: FinishedPass,
  before: CanonicalState,
  field: F,
): Contribution<CanonicalState[F][number]>[] {
  type FieldValues = readonly CanonicalState[F][number][];
  return [
    { values: before[field] as FieldValues, sourceOf: (index) => provenance[`${field}[${index}]`] },
    ...outputs.map(({ state, source }) => ({ values: state[field] as FieldValues, sourceOf: () => source })),
  ];
}

/** Returns the open questions of the last agent, each attributed to the agent that asked the question first. */
function openQuestions(pass: FinishedPass, before: CanonicalState): Sourced<string>[] {
  const last = new Set(pass.outputs.at(-1)?.state.open_questions.map(normalizeText));
  return mergeTexts(listContributions(pass, before, 'open_questions')).filter(({ value }) =>
    last.has(normalizeText(value)),
  );
}

/**
 * Returns the text of a field after the pass, and its source. If agents changed the text in this pass, the last change
 * counts, and its agent is the source. Otherwise the field keeps its text and source. Empty texts, and changes of only
 * case or spaces, are ignored.
 */
function lastText(
  { outputs, provenance }: FinishedPass,
  before: CanonicalState,
  field: 'idea' | 'architecture',
): Sourced<string> {
  let word: Sourced<string> = { value: before[field], source: provenance[field] };
  for (const { state, source } of outputs) {
    const value = state[field];
    if (value.trim() !== '' && normalizeText(value) !== normalizeText(word.value)) word = { value, source };
  }
  return word;
}

function lastConfidence({ outputs, provenance }: FinishedPass, before: CanonicalState): Sourced<number> {
  let word: Sourced<number> = { value: before.metrics.confidence, source: provenance['metrics.confidence'] };
  for (const { state, source } of outputs) {
    if (state.metrics.confidence !== word.value) word = { value: state.metrics.confidence, source };
  }
  return word;
}
