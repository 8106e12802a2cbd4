import { Injectable, Logger } from '@nestjs/common';
import { AgentDirectory, RequestSigners, UNUSABLE_CREDENTIAL } from '#libs/a2a-client';
import { BrainstormEntries, type BrainstormEntry, CallChains } from '#libs/agents';
import {
  type AgentCall,
  type CalledAgent,
  type CallTarget,
  DurableExecution,
  ProcessCalls,
  type ProcessStart,
  type Steps,
} from '#libs/durable';
import { ServiceAddress } from '#libs/http-server';
import { retryWhileDatabaseDown } from '#libs/postgres';
import { type Message, redactedUrl, runEventMetadata, withoutUserinfo } from '#libs/protocol';
import { type TaskEvent, TaskStore } from '#libs/tasks';
import { stateBefore, turnMessageId, type TurnOutcome, turnOutcome, turnRequest } from './agent-turn.js';
import { Approvals } from './approvals.js';
import {
  approvedEvent,
  type BrainstormEnding,
  canceledEvent,
  convergedEvent,
  failedEvent,
  mergedEvent,
} from './brainstorm-ending.js';
import { BrainstormProgress, nextStep, type PassTurn } from './brainstorm-progress.js';
import { type SettledAgent, targetUrl } from './brainstorm-spec.js';
import {
  type AgentTurnPlace,
  brainstormNote,
  type BrainstormStepPayloads,
  type StoppedAgent,
} from './brainstorm-steps.js';
import { ACCEPTED_STATE_SCHEMA, STATE_SCHEMA } from './core/canonical-state.js';

/** Services that every brainstorm uses. */
@Injectable()
export class BrainstormServices {
  constructor(
    readonly directory: AgentDirectory,
    readonly approvals: Approvals,
    readonly chains: CallChains,
    /** Address of this service's agents. It is known only once the service listens, so it is read at each call. */
    readonly address: ServiceAddress,
    readonly tasks: TaskStore,
    readonly signers: RequestSigners,
  ) {}
}

const STATE_ENTRY: Omit<BrainstormEntry, 'agent'> = { output: STATE_SCHEMA, accepts: ACCEPTED_STATE_SCHEMA };

/**
 * Maximum milliseconds that a canceled brainstorm retries to read from the database whether the cancel is an
 * approval. If the answer is still unknown then, the Task ends as canceled.
 */
const FINDING_OUT_MS = 10_000;

/** Executes a brainstorm's Task, step by step as `nextStep` decides. */
export class BrainstormRun extends DurableExecution<BrainstormProgress> {
  private readonly logger = new Logger(BrainstormRun.name);
  protected override readonly calls: ProcessCalls;
  private readonly entries: BrainstormEntries;

  constructor(
    private readonly services: BrainstormServices,
    { context, log, links }: ProcessStart,
    private readonly ending: BrainstormEnding,
  ) {
    super(context, BrainstormProgress.fromEvents(log));
    this.calls = new ProcessCalls(services, { context, links });
    this.entries = new BrainstormEntries(services.chains);
  }

  protected override next(): Steps {
    const { context, state, ending } = this;
    const next = nextStep(state);
    switch (next.kind) {
      case 'begin':
        return [this.recordNote('iteration.started', { iteration: next.iteration })];
      case 'announce':
        return this.announceTurn(next.turn);
      case 'call':
        return this.callAgent(next.turn);
      case 'give-up':
        return [this.giveUpTurn(next.turn)];
      case 'merge':
        return [this.recordEvent(mergedEvent(context, state, ending.artifactId))];
      case 'await-input':
        return [this.recordEvent((next.as === 'converged' ? convergedEvent : failedEvent)(context, state, ending))];
    }
  }

  /**
   * Ends the Task after a cancel. If the cancel is an approval, keeps the last merged state as the result, and does not
   * wait until the agent at work is canceled. Otherwise waits for that, and records its outcome.
   */
  protected override async *endCanceled(): AsyncGenerator<TaskEvent> {
    const agents = this.stopAgents();
    const isApproved = () => this.services.approvals.isApproved(this.context.taskId);
    const approved = await retryWhileDatabaseDown(isApproved, AbortSignal.timeout(FINDING_OUT_MS));
    if (approved) yield this.recordEvent(approvedEvent(this.context, this.state));
    else yield this.recordEvent(canceledEvent(this.context, await agents));
  }

  protected override async endCalls(): Promise<void> {
    await this.stopAgents();
  }

  private async stopAgents(): Promise<StoppedAgent[]> {
    const turn = this.state.pass?.agents.find(({ status }) => status === 'running');
    return turn ? [{ agent: turn.agent, ...(await this.calls.cancelCall(this.calledAgent(turn))) }] : [];
  }

  private async *announceTurn(turn: PassTurn): AsyncGenerator<TaskEvent> {
    const place = this.turnPlace(turn);
    const proof = await this.findProof(turn);
    if (typeof proof === 'string') return yield this.recordNote('agent.error', { ...place, error: proof });
    const attempt = turn.attempts + 1;
    const messageId = turnMessageId(this.context.taskId, place.iteration, turn.position, attempt);
    this.calls.announceCall(referenceOf(place, attempt));
    yield this.recordNote('agent.started', { ...place, attempt, url: this.targetOf(turn).url, messageId, ...proof });
  }

  /**
   * Returns the credential for the next call to a remote agent, as `{ credential }`: the first of the agent's
   * `credentials` that may be sent to the origin of the agent's URL, else its `auth`. Returns `{}` if the agent has
   * neither, and for an agent of this service. Returns an error text if the agent has no `auth`, and none of its
   * `credentials` may be sent. Called before each call.
   */
  private async findProof(turn: PassTurn): Promise<{ credential?: string } | string> {
    const { target, auth, credentials = [] } = this.agentOf(turn);
    // Only the agent of this service knows the endpoints of its models.
    if ('path' in target) return {};
    const { context, services } = this;
    const wanted = { tenant: context.call.scope.tenant, signal: context.signal };
    for (const credential of credentials)
      if (await services.signers.reachesOrigins({ ...wanted, credential }, [new URL(target.url).origin]))
        return { credential };
    if (auth !== undefined) return { credential: auth };
    return credentials.length === 0 ? {} : `"${credentials.join('", "')}" ${UNUSABLE_CREDENTIAL}`;
  }

  private async *callAgent(turn: PassTurn): AsyncGenerator<TaskEvent> {
    const place = this.turnPlace(turn);
    const { state, context } = this;
    const { timeoutMs } = state.spec;
    const called = this.calledAgent(turn);
    const call = await this.calls.openCall({
      ...called,
      request: turnRequest(state, turn, context.contextId),
      ...(called.own && { complete: (message: Message) => this.withEntry(message, turn) }),
      forgotten: 'send',
      ...(timeoutMs !== undefined && { timeouts: { firstEvent: timeoutMs, idle: timeoutMs } }),
    });
    if (call.taskId !== undefined && turn.taskId === undefined)
      yield this.recordNote('agent.phase', { ...place, taskId: call.taskId, phase: 'working' });
    for await (const { seen } of call.runCall()) {
      if (seen?.first) yield this.recordNote('agent.phase', { ...place, taskId: seen.taskId, phase: 'working' });
    }
    await this.afterCall(call, turn);
    this.calls.close(referenceOf(place, turn.attempts));
    yield* this.recordOutcome(turn, turnOutcome(call.outcome, stateBefore(state, turn)));
  }

  private *recordOutcome(turn: PassTurn, outcome: TurnOutcome): Generator<TaskEvent> {
    const place = this.turnPlace(turn);
    if (outcome.kind === 'failed') return yield this.recordNote('agent.error', { ...place, error: outcome.error });
    const { repairs, usage } = outcome.report;
    // An earlier execution may have recorded some of these repairs.
    for (const faults of repairs.slice(turn.recordedRepairs ?? 0))
      yield this.recordNote('agent.repaired', { ...place, faults });
    const used = usage && { usage };
    if (outcome.kind === 'state') yield this.recordNote('agent.completed', { ...place, state: outcome.state, ...used });
    else yield this.recordNote('agent.rejected', { ...place, error: outcome.error, ...used });
  }

  /** Attaches the signed entry of the brainstorm (schemas and credentials) for an agent of this service. */
  private withEntry(message: Message, turn: PassTurn): Message {
    const { credentials = [] } = this.agentOf(turn);
    const { calledAgent: agent } = this.targetOf(turn);
    const entry = { ...STATE_ENTRY, agent, ...(credentials.length > 0 && { credentials }) };
    return this.entries.attachEntry(entry, message, this.context.call.scope);
  }

  /**
   * Handles the end of a call.
   * - If the agent asks a question, which a brainstorm cannot answer, cancels the agent's Task. The failure is recorded
   *   only afterwards, so that a crash in between leaves no waiting agent.
   * - Logs an internal fault, since callers do not see its cause.
   */
  private async afterCall(call: AgentCall, turn: PassTurn): Promise<void> {
    const { outcome } = call;
    if (outcome.kind === 'waiting') await call.cancelCall();
    if (outcome.kind !== 'failed' || outcome.failure.kind !== 'internal') return;
    const { cause } = outcome.failure;
    this.logger.error({ err: cause, url: redactedUrl(this.targetOf(turn).url) }, 'The call of an agent failed');
  }

  private giveUpTurn(turn: PassTurn): TaskEvent {
    const error = `${turn.error ?? 'invalid state'} (${turn.rejections} answers were rejected)`;
    return this.recordNote('agent.error', { ...this.turnPlace(turn), error });
  }

  /** Returns the agent that a turn calls, as a call needs it: with the address to call and the credential. */
  private calledAgent(turn: PassTurn): CalledAgent {
    const { target, auth } = this.agentOf(turn);
    const own = 'path' in target;
    // Earlier versions did not record the credential of a call.
    const credential = turn.credential ?? auth;
    return {
      reference: referenceOf(this.turnPlace(turn), turn.attempts),
      own,
      findTarget: () => this.targetOf(turn),
      ...(turn.taskId !== undefined && { seen: turn.taskId }),
      ...(credential !== undefined && !own && { identity: { credential, onlyToHosts: true } }),
    };
  }

  private targetOf(turn: PassTurn): Required<CallTarget> {
    const { target } = this.agentOf(turn);
    const url = withoutUserinfo(targetUrl(target, this.services.address.internalUrl));
    return { url, calledAgent: 'path' in target ? target.path : target.url };
  }

  private agentOf({ position }: PassTurn): SettledAgent {
    const agent = this.state.spec.agents[position];
    if (agent === undefined) throw new RangeError(`The brainstorm has no agent at ${position}`);
    return agent;
  }

  private turnPlace({ position, agent, role }: PassTurn): AgentTurnPlace {
    return { iteration: this.state.pass?.iteration ?? 0, position, agent, role };
  }

  private recordNote<T extends keyof BrainstormStepPayloads>(type: T, payload: BrainstormStepPayloads[T]): TaskEvent {
    return this.recordMetadata(runEventMetadata(brainstormNote(type, payload)));
  }
}

/**
 * Returns the name of a call within the brainstorm's Task. With this name, the Task of a local agent is found again.
 */
function referenceOf({ iteration, position }: AgentTurnPlace, attempt: number): string {
  return `${iteration}.${position}#${attempt}`;
}
