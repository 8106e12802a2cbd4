import { Logger } from '@nestjs/common';
import { AgentCall, type CallIdentity, cancelTask, ownChildren } from '#libs/agent-calls';
import { type Hop, type RequestContext, TaskCanceled } from '#libs/executor';
import type { TaskEvent } from '#libs/tasks';
import { shownUrl, withoutUserinfo } from '#libs/protocol';
import { turnOutcome } from './agent-answer.js';
import { turnMessageId, turnRequest } from './agent-dispatch.js';
import { targetUrl } from './agent-target.js';
import {
  approvedEvent,
  type BrainstormEnding,
  canceledEvent,
  convergedEvent,
  failedEvent,
  mergedEvent,
  stepEvent,
} from './brainstorm-ending.js';
import type { AgentTurn, BrainstormProgress } from './brainstorm-progress.js';
import type { BrainstormServices } from './brainstorm-services.js';
import { type AgentPlace, brainstormNote, type BrainstormStepPayloads, type StoppedAgent } from './brainstorm-steps.js';
import { nextStep } from './next-step.js';

/** What a cancel takes to find out whether an agent was called. */
const FINDING_MS = 5_000;

/** A brainstorm, or the rest of one, from where its log ends. */
export interface BrainstormStart {
  context: RequestContext;
  progress: BrainstormProgress;
  ending: BrainstormEnding;
  /** The calls that led to this one. */
  hops: readonly Hop[];
}

/**
 * One turn of a brainstorm's Task. What is to do next follows from the folded log alone, whether this process wrote it
 * or another: the loop does that one thing, yields what came of it, and looks again.
 */
export class BrainstormRun {
  private readonly logger = new Logger(BrainstormRun.name);
  private readonly context: RequestContext;
  private readonly progress: BrainstormProgress;
  private call: AgentCall | undefined;
  /** Whether an earlier process may have made the next call already. */
  private repeated: boolean;
  /** When this process announced a call last. */
  private announcedAt: number | undefined;

  constructor(
    private readonly services: BrainstormServices,
    private readonly start: BrainstormStart,
  ) {
    this.context = start.context;
    this.progress = start.progress;
    this.repeated = start.context.recovered > 0;
  }

  async *events(): AsyncGenerator<TaskEvent> {
    try {
      yield* this.advance();
    } catch (error) {
      if (!(this.context.signal.reason instanceof TaskCanceled)) throw error;
      yield* this.stop();
    }
  }

  private async *advance(): AsyncGenerator<TaskEvent> {
    const { context, progress } = this;
    const { ending } = this.start;
    for (;;) {
      context.signal.throwIfAborted();
      const next = nextStep(progress);
      if (next.kind === 'begin') yield this.step('iteration.started', { iteration: next.iteration });
      else if (next.kind === 'announce') yield this.announce(next.turn);
      else if (next.kind === 'call') yield* this.ask(next.turn);
      else if (next.kind === 'give-up') yield this.giveUp(next.turn);
      else if (next.kind === 'merge') yield this.record(mergedEvent(context, progress, ending.artifactId));
      else if (next.as === 'converged') return yield this.record(convergedEvent(context, progress, ending));
      else return yield this.record(failedEvent(context, progress, ending));
    }
  }

  private announce(turn: AgentTurn): TaskEvent {
    const place = this.placeOf(turn);
    const attempt = turn.attempts + 1;
    const messageId = turnMessageId(this.context.taskId, place.iteration, turn.position, attempt);
    this.announcedAt = performance.now();
    return this.step('agent.started', { ...place, attempt, url: this.urlOf(turn), messageId });
  }

  private async *ask(turn: AgentTurn): AsyncGenerator<TaskEvent> {
    const place = this.placeOf(turn);
    const known = turn.taskId ?? (this.repeated ? await this.madeBefore(turn) : undefined);
    this.repeated = false;
    const call = this.callOf(turn, known);
    this.call = call;
    if (known !== undefined && turn.taskId === undefined)
      yield this.step('agent.phase', { ...place, taskId: known, phase: 'working' });
    for await (const { seen } of call.run()) {
      if (seen?.first) yield this.step('agent.phase', { ...place, taskId: seen.taskId, phase: 'working' });
    }
    this.call = undefined;
    this.afterCall(call, turn);
    const outcome = turnOutcome(call.outcome);
    if (outcome.kind === 'state') yield this.step('agent.completed', { ...place, state: outcome.state });
    else if (outcome.kind === 'rejected') yield this.step('agent.rejected', { ...place, error: outcome.error });
    else yield this.step('agent.error', { ...place, error: outcome.error });
  }

  /** The card is resolved for it anew (row J3). */
  private callOf(turn: AgentTurn, known: string | undefined): AgentCall {
    const { context, progress, announcedAt } = this;
    const { timeoutMs } = progress.spec;
    return new AgentCall(this.services.directory, {
      identity: this.identity(turn),
      signal: context.signal,
      request: turnRequest(progress, turn, context.contextId),
      target: () => ({ url: this.urlOf(turn), callee: this.calleeOf(turn) }),
      by: {
        context,
        agent: context.call.agent,
        chain: { hops: this.start.hops, signer: this.services.hops },
        ...(announcedAt !== undefined && { announcedAt }),
      },
      own: this.isOwn(turn),
      ...(known !== undefined && { known }),
      forgotten: 'send',
      ...(timeoutMs !== undefined && { timeouts: { firstEvent: timeoutMs, idle: timeoutMs } }),
    });
  }

  /** Nobody will answer an agent that asks; and what is our own fault is told to nobody else. */
  private afterCall(call: AgentCall, turn: AgentTurn): void {
    const { outcome } = call;
    if (outcome.kind === 'waiting') void call.cancel();
    if (outcome.kind !== 'failed' || outcome.failure.kind !== 'internal') return;
    const { cause } = outcome.failure;
    this.logger.error({ err: cause, url: shownUrl(this.urlOf(turn)) }, 'The call of an agent failed');
  }

  private giveUp(turn: AgentTurn): TaskEvent {
    const error = `${turn.error ?? 'invalid state'} (${turn.rejections} answers were rejected)`;
    return this.step('agent.error', { ...this.placeOf(turn), error });
  }

  /** A cancel that was meant as an approval keeps what was merged last. */
  private async *stop(): AsyncGenerator<TaskEvent> {
    const approved = await this.services.approvals.isApproved(this.context.taskId);
    const agents = this.stopAgents();
    // Once it is approved nobody waits for what becomes of them.
    agents.catch(() => undefined);
    if (approved) yield this.record(approvedEvent(this.context, this.progress));
    else yield this.record(canceledEvent(this.context, await agents));
  }

  private async stopAgents(): Promise<StoppedAgent[]> {
    const turn = this.progress.pass?.agents.find(({ status }) => status === 'running');
    if (turn === undefined) return [];
    const { agent } = turn;
    if (this.call) return [{ agent, ...(await this.call.cancel()) }];
    // The run's own signal is aborted: there would be no second try. What cannot be found out ends no brainstorm.
    const taskId = turn.taskId ?? (await this.madeBefore(turn, AbortSignal.timeout(FINDING_MS)).catch(() => undefined));
    if (taskId === undefined) return [{ agent, outcome: this.repeated ? 'unknown' : 'not-started' }];
    const outcome = await cancelTask(this.services.directory, this.urlOf(turn), taskId, this.identity(turn));
    return [{ agent, taskId, outcome }];
  }

  /** The Task of a call that the log does not name: an agent of our own has it, with the call as its parent. */
  private async madeBefore(turn: AgentTurn, signal = this.context.signal): Promise<string | undefined> {
    const made = await ownChildren(this.services.tasks, this.context.taskId, signal);
    return made.get(this.referenceOf(turn));
  }

  /** What a call's Task calls the call. */
  private referenceOf({ position, attempts }: AgentTurn): string {
    return `${this.progress.pass?.iteration ?? 0}.${position}#${attempts}`;
  }

  private identity(turn: AgentTurn): CallIdentity {
    const { call, taskId } = this.context;
    const credential = this.progress.spec.agents[turn.position]?.auth;
    return {
      scope: call.scope,
      parent: { taskId, reference: this.referenceOf(turn) },
      ...(credential !== undefined && !this.isOwn(turn) && { credential, onlyToHosts: true }),
    };
  }

  private isOwn({ position }: AgentTurn): boolean {
    const target = this.progress.spec.agents[position]?.target;
    return target !== undefined && 'path' in target;
  }

  private calleeOf({ position }: AgentTurn): string {
    const target = this.progress.spec.agents[position]?.target;
    if (target === undefined) return '';
    return 'path' in target ? target.path : target.url;
  }

  private urlOf({ position }: AgentTurn): string {
    const agent = this.progress.spec.agents[position];
    return agent ? withoutUserinfo(targetUrl(agent.target, this.services.address.internalUrl)) : '';
  }

  private placeOf({ position, agent, role }: AgentTurn): AgentPlace {
    return { iteration: this.progress.pass?.iteration ?? 0, position, agent, role };
  }

  private step<T extends keyof BrainstormStepPayloads>(type: T, payload: BrainstormStepPayloads[T]): TaskEvent {
    return this.record(stepEvent(this.context, brainstormNote(type, payload)));
  }

  private record(event: TaskEvent): TaskEvent {
    if (!('task' in event)) this.progress.apply(event);
    return event;
  }
}
