import {
  compileExpression,
  compileTemplate,
  EvaluationBudget,
  evaluateCondition,
  type Expression,
  ExpressionError,
  InvalidExpression,
  renderTemplate,
  type Template,
} from '#libs/expressions';
import { ProblemError } from '#libs/http-server';
import { ContentTooLarge, type JsonObject, TextBudget } from '#libs/protocol';
import type { TriggerEvent } from './received-event.js';

/** Maximum length of a run's inputs as JSON, in characters. */
const LONGEST_INPUTS = 65_536;

/** Number of steps for all expressions of one delivery: at most 20 ms of the event loop. */
const MOST_STEPS = 100_000;

/** Rules of a trigger: the events that start a run, and the inputs of that run. */
export interface TriggerRules {
  /** CEL condition on the event; absent: each event starts a run. */
  when?: string;
  /** Inputs of the run. Their texts may contain CEL expressions as `${…}`. */
  inputs: JsonObject;
}

/** Kind of source that a trigger has: it decides which variables expressions may read. */
export type SourceKind = 'webhook' | 'run';

/** Variables of expressions by the kind of the source. */
const VOCABULARIES = {
  webhook: { body: {}, headers: {}, query: {} },
  run: { run: { members: new Set(['id', 'workflow', 'status', 'inputs', 'result', 'results', 'error']) } },
} as const;

/** Fault of a rule: the member of the trigger, and what is wrong. */
export interface RuleProblem {
  path: string;
  detail: string;
}

/** Decision about one event: the inputs of its run, or the reason why it starts none. */
export type RuleDecision = { inputs: JsonObject } | { reason: string };

/** Compiled rules of a trigger. */
export class CompiledRules {
  private constructor(
    private readonly when: Expression | undefined,
    private readonly inputs: Template,
  ) {}

  /** Compiles rules, or returns all their problems. */
  static compileRules({ when, inputs }: TriggerRules, kind: SourceKind): CompiledRules | RuleProblem[] {
    const vocabulary = VOCABULARIES[kind];
    const condition = when === undefined ? undefined : compileExpression(when, vocabulary);
    const template = compileTemplate(inputs, vocabulary);
    const problems = [
      ...(condition instanceof InvalidExpression ? [describeProblem('when', condition)] : []),
      ...(Array.isArray(template) ? template.map((it) => describeProblem('inputs', it)) : []),
    ];
    if (problems.length > 0 || condition instanceof InvalidExpression || Array.isArray(template)) return problems;
    return new CompiledRules(condition, template);
  }

  /**
   * Decides about an event. The condition and the inputs share one budget of steps.
   * @throws ProblemError 422 naming the member whose expression has no value
   */
  decideEvent(event: TriggerEvent): RuleDecision {
    const budget = new EvaluationBudget(MOST_STEPS);
    const { when, inputs } = this;
    if (when && !evaluateMember('when', () => evaluateCondition(when, event, budget)))
      return { reason: 'The condition of the trigger is false.' };
    const filling = { variables: event, resolve: () => undefined, texts: new TextBudget(LONGEST_INPUTS), budget };
    const filled = evaluateMember('inputs', () => renderTemplate(inputs, filling)) as JsonObject;
    if (JSON.stringify(filled).length > LONGEST_INPUTS) throw tooLarge();
    return { inputs: filled };
  }
}

function evaluateMember<T>(member: 'when' | 'inputs', work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ContentTooLarge) throw tooLarge();
    if (!(error instanceof ExpressionError)) throw error;
    const problem = describeProblem(member, error);
    throw new ProblemError(422, `${problem.path}: ${problem.detail}`, [problem]);
  }
}

function describeProblem(
  member: string,
  { path, offset, message }: Pick<InvalidExpression, 'path' | 'offset' | 'message'>,
): RuleProblem {
  return { path: path === '' ? member : `${member}.${path}`, detail: `at ${offset}: ${message}` };
}

function tooLarge(): ProblemError {
  const detail = `must have at most ${LONGEST_INPUTS} characters as JSON`;
  return new ProblemError(422, `inputs: ${detail}`, [{ path: 'inputs', detail }]);
}
