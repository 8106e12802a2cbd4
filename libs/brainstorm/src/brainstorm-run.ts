import type { CallOptions } from '#libs/a2a-client';
import { type Hop, type RequestContext, TaskCanceled } from '#libs/executor';
import { throughOutage } from '#libs/postgres';
import { withoutUserinfo } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { AgentCall, cancelTask } from './agent-call.js';
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
  private readonly context: RequestContext;
  private readonly progress: BrainstormProgress;
  private call: AgentCall | undefined;
  /** Whether an earlier process may have made the next call already. */
  private repeated: boolean;

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
    return this.step('agent.started', { ...place, attempt, url: this.urlOf(turn), messageId });
  }

  /** Nothing leaves this process before it is durable that it will. */
  private async *ask(turn: AgentTurn): AsyncGenerator<TaskEvent> {
    const { context, progress } = this;
    await context.flush();
    const place = this.placeOf(turn);
    const known = turn.taskId ?? (this.repeated ? await this.madeBefore(turn) : undefined);
    this.repeated = false;
    this.call = new AgentCall(this.services.directory, {
      url: this.urlOf(turn),
      request: turnRequest(progress, turn, { contextId: context.contextId, hops: this.hopsTo(turn) }),
      options: { ...this.options(turn), signal: context.signal },
      refuse: () => this.services.hops.refuseCall(this.calleeOf(turn), this.start.hops),
      ...(known !== undefined && { known }),
    });
    if (known !== undefined && turn.taskId === undefined)
      yield this.step('agent.phase', { ...place, taskId: known, phase: 'working' });
    const answer = this.call.run();
    let next = await answer.next();
    for (; !next.done; next = await answer.next()) {
      yield this.step('agent.phase', { ...place, taskId: next.value, phase: 'working' });
    }
    this.call = undefined;
    const outcome = next.value;
    if (outcome.kind === 'state') yield this.step('agent.completed', { ...place, state: outcome.state });
    else if (outcome.kind === 'rejected') yield this.step('agent.rejected', { ...place, error: outcome.error });
    else yield this.step('agent.error', { ...place, error: outcome.error });
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
    const target = { url: this.urlOf(turn), options: this.options(turn) };
    return [{ agent, taskId, outcome: await cancelTask(this.services.directory, target, taskId) }];
  }

  /** The Task of a call that the log does not name: an agent of our own has it, with the call as its parent. */
  private async madeBefore(turn: AgentTurn, signal = this.context.signal): Promise<string | undefined> {
    const { taskId } = this.context;
    const made = await throughOutage(() => this.services.tasks.children(taskId), signal);
    return made.find(({ parentReference }) => parentReference === this.referenceOf(turn))?.taskId;
  }

  /** What a call's Task calls the call. */
  private referenceOf({ position, attempts }: AgentTurn): string {
    return `${this.progress.pass?.iteration ?? 0}.${position}#${attempts}`;
  }

  private options(turn: AgentTurn): CallOptions {
    const { call, taskId } = this.context;
    const { timeoutMs, agents } = this.progress.spec;
    const { auth: credential, target } = agents[turn.position] ?? {};
    return {
      scope: call.scope,
      parent: { taskId, reference: this.referenceOf(turn) },
      ...(credential !== undefined && target && 'url' in target && { credential, onlyToHosts: true }),
      ...(timeoutMs !== undefined && { timeouts: { firstEvent: timeoutMs, idle: timeoutMs } }),
    };
  }

  private hopsTo(turn: AgentTurn): Hop[] {
    const { call, taskId: task } = this.context;
    return this.services.hops.extended(this.start.hops, { task, caller: call.agent, callee: this.calleeOf(turn) });
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
