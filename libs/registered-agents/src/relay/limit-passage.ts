import type { RequestContext } from '#libs/agents';
import type { AppliedLimit, LimitGates } from '#libs/limits';
import { retryWhileUnreachable } from '#libs/postgres';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import type { RelayServices } from './relay-request.js';
import type { StoredTurn } from './relay-tasks.js';

/** Work of the agent on the turn so far. */
interface TurnProgress {
  /** True if the agent has the turn already: it takes slots without waiting. */
  isUnderWay: boolean;
  /** True if the Message has certainly not been sent. */
  isUnsent: boolean;
}

/**
 * Passage of one turn through the limits of the service. A turn that has to wait is parked; only the turns that come
 * next wait in memory. It keeps its slots until its Task ends or waits for an answer.
 */
export class LimitPassage {
  private limits: readonly AppliedLimit[] = [];

  constructor(
    private readonly agent: RegisteredAgent,
    private readonly services: Pick<RelayServices, 'gates'>,
    private readonly context: RequestContext,
    private readonly turn: StoredTurn,
  ) {}

  /** True if the turn has a limit. */
  get isLimited(): boolean {
    return this.limits.length > 0;
  }

  /**
   * Takes a slot of each limit of the turn.
   * @returns false if too many turns wait, or the time limit of the turn has passed
   * @throws ExecutionInterrupted if the turn is parked, or another replica has its Task
   */
  async takeSlots(progress: TurnProgress): Promise<boolean> {
    const { services, context, agent } = this;
    const { gates } = services;
    if (!gates) return true;
    const { tenant, owner } = context.call.scope;
    this.limits = await gates.findLimitsOf({ kind: 'agents', name: agent.name, tenant, owner }, context.signal);
    for (const limit of this.limits) if (!(await this.takeSlot(gates, limit, progress))) return false;
    return true;
  }

  /** Lets no further turn of the agent begin for a while, in all replicas, since the agent asks for a pause. */
  async closeGates(pauseMs: number): Promise<void> {
    const { gates } = this.services;
    if (!gates || pauseMs === 0) return;
    for (const limit of this.limits)
      if (limit.isOfOne) await retryWhileUnreachable(() => gates.closeGate(limit, pauseMs), this.context.signal);
  }

  private async takeSlot(
    gates: LimitGates,
    limit: AppliedLimit,
    { isUnderWay, isUnsent }: TurnProgress,
  ): Promise<boolean> {
    const { context, turn } = this;
    const { signal } = context;
    const until = this.deadline;
    const request = { limit, isUnderWay, isUnsentTurn: isUnsent, ...(until && { until }) };
    for (;;) {
      const outcome = await retryWhileUnreachable(() => gates.requestSlot(context, request), signal);
      if (outcome === 'held') return true;
      if (outcome === 'crowded' || outcome === 'full') return false;
      turn.isUnsent ||= isUnsent;
      if (outcome === 'parked') context.leaveTask?.();
      if (outcome === 'next') await gates.waitForSlot(context, until, signal);
      signal.throwIfAborted();
      if (until !== undefined && until.getTime() <= Date.now()) return false;
      // Any other request has checked the claim.
      if (outcome === 'lost') await context.assertClaimHeld();
    }
  }

  /** Time at which the time limit of the turn passes. */
  private get deadline(): Date | undefined {
    const { limit } = this.agent.policy;
    return limit === undefined ? undefined : new Date(this.turn.begunAt.getTime() + limit * 1_000);
  }
}
