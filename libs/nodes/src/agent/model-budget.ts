import { setTimeout as delay } from 'node:timers/promises';
import type { RequestContext } from '#libs/agents';
import { type Model, type ModelCall, ModelError } from '#libs/models';
import { retryWhileUnreachable } from '#libs/postgres';
import { firstData, isJsonObject, joinedText, type Message, type TaskReference, textPart } from '#libs/protocol';
import {
  type BudgetUnit,
  type BudgetAdmission,
  type DailyBudgets,
  describeExceeded,
  type ExceededBudget,
  type RunBudgets,
} from '#libs/tasks';
import { type NodeEvent, NodeFailure } from '../node-executor.js';
import { budgetExceeded, type BudgetRaise, callQuestion } from './agent-events.js';

/** Milliseconds before a call is requested again while other calls reserve the rest of a budget; they double. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** Maximum number by which one answer raises a limit. */
const MOST: Record<BudgetUnit, number> = { usd: 1_000_000, tokens: 1_000_000_000_000 };
const REFUSALS = new Set(['no', 'stop', 'cancel']);

/** Budgets of runs that limit the calls of models of one Task. */
export class ModelBudget {
  /**
   * @param ids runs with the budgets, outermost first
   * @param daily daily budgets of callers and tenants; absent: there are none
   */
  constructor(
    private readonly budgets: Pick<RunBudgets, 'requestCall' | 'releaseCall' | 'raiseLimit'>,
    private readonly context: RequestContext,
    private readonly ids: readonly string[],
    private readonly daily?: Pick<DailyBudgets, 'findExceeded'>,
  ) {}

  /**
   * Waits until a call may be made, and charges it to the budgets. Calls of the built-in model are not charged.
   * @param raise answer to the question that the Task has asked about a budget, if any
   * Yields warnings of budgets that are used up, or the question about one.
   * @returns true if the call may be made; false after a question
   * @throws NodeFailure if a budget is used up, or limits the cost and the model has no price
   */
  async *admitCall(
    model: Model,
    call: ModelCall,
    raise: BudgetRaise | undefined,
  ): AsyncGenerator<NodeEvent, boolean, void> {
    if (model.estimateUsage === undefined) return true;
    await this.refuseBeyondDay();
    if (this.ids.length === 0) return true;
    const answer = raise && (await this.applyRaise(raise));
    const admission = await this.requestCall(model, call);
    if (admission.kind === 'admitted') {
      for (const exceeded of admission.warnings) yield budgetExceeded(this.context, exceeded);
      return true;
    }
    const { budget } = admission;
    if (budget.onExceeded !== 'ask') throw exceededFailure(budget);
    yield createQuestion(this.context, budget, answer === 'unread');
    return false;
  }

  /**
   * Yields the events of an answer. If the provider fails with an HTTP error before it has sent anything, removes the
   * charge of the call.
   */
  async *releaseRefused<Event>(events: AsyncIterable<Event>): AsyncGenerator<Event, void, void> {
    let isBegun = false;
    try {
      for await (const event of events) {
        isBegun = true;
        yield event;
      }
    } catch (error) {
      const isRefused = error instanceof ModelError && error.status !== undefined && error.usage === undefined;
      if (!isBegun && isRefused && this.ids.length > 0) await this.releaseCall();
      throw error;
    }
  }

  private async releaseCall(): Promise<void> {
    await retryWhileUnreachable(() => this.budgets.releaseCall(this.context), this.context.signal);
  }

  /** @throws NodeFailure if the caller or its tenant has spent its daily budget */
  private async refuseBeyondDay(): Promise<void> {
    const { daily } = this;
    if (!daily) return;
    await this.context.flush();
    const { call, signal } = this.context;
    const exceeded = await retryWhileUnreachable(() => daily.findExceeded(call.scope), signal);
    if (exceeded === undefined) return;
    const { who, limit, spent } = exceeded;
    const message = `the daily budget of the ${who} is used up: $${spent} of $${limit} are spent today (UTC)`;
    throw new NodeFailure(message, { note: EXCEEDED });
  }

  private async requestCall(
    model: Model,
    call: ModelCall,
  ): Promise<Exclude<BudgetAdmission, { kind: 'full' | 'unpriced' }>> {
    const { taskId, token, signal, call: by } = this.context;
    const { inputTokens = 0, outputTokens = 0, cost } = model.estimateUsage?.(call) ?? {};
    const { name } = model;
    const asked = { scope: by.scope, taskId, token, budgets: this.ids, tokens: inputTokens + outputTokens };
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      // The charge of the call before is replaced by its cost in the commit of its answer.
      await this.context.flush();
      const request = { ...asked, usd: cost ?? '0', isPriced: cost !== undefined };
      const admission = await retryWhileUnreachable(() => this.budgets.requestCall(request), signal);
      if (admission.kind === 'unpriced') throw unpricedFailure(name, admission.workflow);
      if (admission.kind !== 'full') return admission;
      await delay(pause * (0.5 + Math.random()), undefined, { signal });
      await this.context.assertClaimHeld();
    }
  }

  private async applyRaise({ budget, unit, message }: BudgetRaise): Promise<'raised' | 'unread'> {
    const more = readAmount(message, unit);
    if (more === undefined) return 'unread';
    if (more === 'no') throw new NodeFailure('the budget is used up, and was not raised', { note: EXCEEDED });
    if (more === 0) return 'raised';
    const { call, signal } = this.context;
    const raise = { unit, more, by: message.messageId };
    await retryWhileUnreachable(() => this.budgets.raiseLimit(budget, call.scope, raise), signal);
    return 'raised';
  }
}

const EXCEEDED = { kind: 'budget-exceeded' };

function exceededFailure(budget: ExceededBudget): NodeFailure {
  return new NodeFailure(describeExceeded(budget), { note: EXCEEDED });
}

function unpricedFailure(model: string, workflow: string): NodeFailure {
  const message = `the model "${model}" has no price, and a budget of the workflow "${workflow}" limits the cost in US dollars`;
  return new NodeFailure(message, { note: { kind: 'refused' } });
}

function createQuestion(task: TaskReference, budget: ExceededBudget, isUnread: boolean): NodeEvent {
  const { runId, unit } = budget;
  const [example, word] = unit === 'usd' ? ['0.5', 'US dollars'] : ['10000', 'tokens'];
  const again = isUnread ? 'The answer has to be a number, or no. ' : '';
  const described = describeExceeded(budget).replace('the budget', 'The budget');
  const text = `${again}${described}. How many more ${word} may it spend? Answer with a number such as ${example}, or no.`;
  return callQuestion(task, { about: 'budget', budget: runId, unit }, [textPart(text)]);
}

/**
 * Reads the amount in an answer: a number as text, or as the member `usd` or `tokens` of data; `undefined` if there is
 * none. An answer of 0 requests the call again, as another answer may have raised the limit.
 */
function readAmount({ parts }: Message, unit: BudgetUnit): number | 'no' | undefined {
  const data = firstData(parts);
  const said = isJsonObject(data) ? data[unit] : (data ?? joinedText(parts));
  const word = typeof said === 'string' ? said.trim().toLowerCase() : said;
  if (typeof word === 'string' && REFUSALS.has(word)) return 'no';
  const number = typeof word === 'string' && word !== '' ? Number(word) : word;
  if (typeof number !== 'number' || !(number >= 0 && number <= MOST[unit])) return undefined;
  return unit === 'tokens' ? Math.floor(number) : number;
}
