import { withoutTrailing } from '#libs/protocol';
import type { PlanStep, Risk, StateContent } from './canonical-state.js';
import { normalizeText } from './normalised.js';
import type { BrainstormRole } from './role.js';

/**
 * Changes a state as an agent of a role would, by fixed rules and without a model. The same state always gives the same
 * result.
 */
export function workByRules(role: BrainstormRole, state: StateContent): StateContent {
  const worked = RULES[role](state);
  return { ...worked, metrics: { confidence: confidenceIn(worked) } };
}

const RULES: Record<BrainstormRole, (state: StateContent) => StateContent> = {
  build: applyBuild,
  review: applyReview,
  refine: applyRefine,
  devils_advocate: applyChallenge,
};

/** Drafts the architecture and the plan if they are missing, and adds an assumption. */
function applyBuild(state: StateContent): StateContent {
  const idea = quoteText(state.idea);
  const architecture =
    state.architecture.trim() === ''
      ? `For ${idea}: an interface for the people who use it, a core that holds the rules, and a store that keeps what happened.`
      : state.architecture;
  return {
    ...state,
    architecture,
    execution_plan: state.execution_plan.length === 0 ? draftPlan(idea) : state.execution_plan,
    assumptions: addText(state.assumptions, `People want ${idea} enough to change what they do today.`),
  };
}

function draftPlan(idea: string): PlanStep[] {
  return [
    {
      title: 'Find out what is needed',
      description: `Talk to five people who would use ${idea}, and write down what they do today and what fails.`,
    },
    {
      title: 'Build the smallest version',
      description: `Build one path of ${idea} from the interface through the core to the store, with real data in it.`,
    },
    {
      title: 'Let people use it',
      description: 'Give the smallest version to the same five people for a week, and watch where they stop.',
    },
    {
      title: 'Decide how to go on',
      description: 'Compare what was seen with what was assumed, then keep, change or drop each part of the plan.',
    },
  ];
}

/** Topics that a plan should mention, each with the risk that is added if the plan omits the topic. */
const EXPECTED: readonly { mentioned: RegExp; risk: Omit<Risk, 'resolved'> }[] = [
  { mentioned: /\b(test|verif|prov)/i, risk: { text: 'No step proves that it works', severity: 'high' } },
  {
    mentioned: /\b(secur|attack|abuse|permission)/i,
    risk: { text: 'Nothing protects it from abuse', severity: 'high' },
  },
  {
    mentioned: /\b(monitor|failure|recover|roll ?back)/i,
    risk: { text: 'A failure goes unnoticed', severity: 'medium' },
  },
];

/** Adds the risks of topics that the plan omits. */
function applyReview(state: StateContent): StateContent {
  const plan = state.execution_plan.map((step) => `${step.title} ${step.description}`).join(' ');
  const missing = EXPECTED.filter(({ mentioned }) => !mentioned.test(plan)).map(({ risk }) => risk);
  const found: Omit<Risk, 'resolved'>[] =
    state.execution_plan.length === 0 ? [{ text: 'There is no plan', severity: 'critical' }] : missing;
  return { ...state, risks: found.reduce(withRisk, state.risks) };
}

/** Resolves each risk by a plan step, and replaces each open question by a provisional assumption. */
function applyRefine(state: StateContent): StateContent {
  const open = state.risks.filter(({ resolved }) => !resolved);
  return {
    ...state,
    execution_plan: open.reduce(withAnswer, state.execution_plan),
    risks: state.risks.map((risk) => ({ ...risk, resolved: true })),
    assumptions: state.open_questions.reduce(
      (assumptions, question) =>
        addText(assumptions, `Until it is known: the simplest answer to ${quoteText(question)}.`),
      state.assumptions,
    ),
    open_questions: [],
  };
}

function withAnswer(plan: PlanStep[], risk: Risk): PlanStep[] {
  const title = answerTo(risk.text);
  if (plan.some((step) => normalizeText(step.title) === normalizeText(title))) return plan;
  const description =
    `Add a test that fails because of the risk ${quoteText(risk.text)}, change the design until it passes, ` +
    'check permissions and abuse, and monitor it for failure afterwards.';
  return [...plan, { title, description }];
}

/** Adds the risk that the idea has no users, unless a step answers it, and a question about the first assumption. */
function applyChallenge(state: StateContent): StateContent {
  const [assumption] = state.assumptions;
  const doubt: Omit<Risk, 'resolved'> = { text: `Nobody needs ${quoteText(state.idea)}`, severity: 'medium' };
  const answered = state.execution_plan.some(
    (step) => normalizeText(step.title) === normalizeText(answerTo(doubt.text)),
  );
  return {
    ...state,
    risks: answered ? state.risks : withRisk(state.risks, doubt),
    open_questions:
      assumption === undefined
        ? state.open_questions
        : addText(state.open_questions, `What if this is wrong: ${quoteText(assumption)}?`),
  };
}

function answerTo(risk: string): string {
  return `Answer the risk: ${risk}`;
}

function withRisk(risks: Risk[], found: Omit<Risk, 'resolved'>): Risk[] {
  const known = risks.some(({ text }) => normalizeText(text) === normalizeText(found.text));
  return known ? risks : [...risks, { ...found, resolved: false }];
}

function addText(texts: string[], text: string): string[] {
  return texts.some((it) => normalizeText(it) === normalizeText(text)) ? texts : [...texts, text];
}

/** Returns a confidence (0.05 to 0.95) that depends on the state alone, so that it settles when the state does. */
function confidenceIn({ execution_plan, risks, open_questions }: StateContent): number {
  const open = risks.filter(({ resolved }) => !resolved).length;
  const value = 0.5 + 0.05 * Math.min(execution_plan.length, 8) - 0.05 * open - 0.02 * open_questions.length;
  return Math.round(Math.min(0.95, Math.max(0.05, value)) * 100) / 100;
}

function quoteText(text: string): string {
  return `“${withoutTrailing(text.trim(), '.!?')}”`;
}
