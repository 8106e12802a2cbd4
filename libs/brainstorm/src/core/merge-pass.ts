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

/** Minimum words of a step's description; a shorter one is not actionable. */
const FEWEST_WORDS = 10;

/** Entry of a merged list with its source, which is absent if no agent of this brainstorm set the entry. */
interface Sourced<T> {
  value: T;
  source: Source | undefined;
}

/** Values of one agent, or the values before the pass. */
interface Contribution<T> {
  values: readonly T[];
  /** Returns the source by position; for an agent it is always the same. */
  sourceOf: (index: number) => Source | undefined;
}

/** Merges the risks of all agents without those that the last mention resolves. */
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
 * Merges the steps of all agents. Steps of equal title become one, with the longer description. Short ones are dropped.
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

/** Merges the texts of all agents, each once. */
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

/** Fields of a single value, which agents can keep changing back and forth. */
const FIELDS = ['idea', 'architecture'] as const;

/** Number of changes from which they count as toggling. */
const CHANGES = 3;

/**
 * Returns a question for each field that agents changed in three or more iterations and that returned to an earlier
 * value.
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

/** Answer of one agent in a pass. */
export interface PassOutput {
  source: Source;
  state: StateContent;
}

/** Pass in which all agents have answered. */
export interface FinishedPass {
  iteration: number;
  /** Merged states so far, beginning with the initial one; the last is the state before this pass. */
  history: readonly CanonicalState[];
  provenance: Provenance;
  /** Answers in the order of the agents; each agent saw the answer before its own. */
  outputs: readonly PassOutput[];
}

export interface MergedPass {
  state: CanonicalState;
  provenance: Provenance;
}

/**
 * Merges the answers of a pass. Plan, risks and assumptions are united. For the rest the last answer counts, so an
 * agent closes a question by omitting it. Pure: the same pass always gives the same result.
 */
export function mergePass(pass: FinishedPass): MergedPass {
  const before = pass.history.at(-1);
  if (before === undefined) throw new RangeError('A pass begins with a state');
  const parts = new SourcedParts();
  const content: StateContent = {
    idea: parts.noteSource('idea', lastWord(pass, before, 'idea')),
    architecture: parts.noteSource('architecture', lastWord(pass, before, 'architecture')),
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

/** Returns the questions of the last agent, each attributed to the agent that asked it first. */
function openQuestions(pass: FinishedPass, before: CanonicalState): Sourced<string>[] {
  const last = new Set(pass.outputs.at(-1)?.state.open_questions.map(normalizeText));
  return mergeTexts(listContributions(pass, before, 'open_questions')).filter(({ value }) =>
    last.has(normalizeText(value)),
  );
}

/** Returns the last text that differs, attributed to the first agent that wrote it. Empty texts are ignored. */
function lastWord(
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
