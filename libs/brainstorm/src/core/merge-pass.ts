import { type CanonicalState, MOST_ENTRIES, type StateContent } from './canonical-state.js';
import { type Contribution, mergePlan, mergeRisks, mergeTexts, type Sourced } from './merge-lists.js';
import { normalizeText } from './normalised.js';
import type { Provenance, Source } from './provenance.js';
import { toggledQuestions } from './toggled-fields.js';

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
