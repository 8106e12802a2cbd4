import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { RunStartCheck } from '#libs/durable';
import { ProblemError } from '#libs/http-server';
import { textStart } from '#libs/protocol';
import type { DecidedDelivery, DeliveryCause, NewDelivery } from '../storage/delivery-writer.js';
import { TriggerDeliveries } from '../storage/trigger-deliveries.js';
import { kindOf, type Trigger } from '../storage/triggers.js';
import { DeliveryStarts } from './delivery-starts.js';
import type { TriggerEvent } from './received-event.js';
import { CompiledRules, type RuleDecision } from './trigger-rules.js';

/** Number of triggers whose compiled rules are kept in memory. */
const MOST_COMPILED = 100;
/** Maximum number of characters of a stored reason. */
const LONGEST_REASON = 1_000;

/**
 * Maximum number of runs in a chain in which each was started by the end of the one before. It ends the loop of two
 * workflows that start each other.
 */
const LONGEST_CHAIN = 5;

/** Event that arrived for a trigger. */
export interface IncomingEvent {
  deliveryId: string;
  cause: DeliveryCause;
  event: TriggerEvent;
  /** Position of the run in a chain of runs that start each other, from 1; absent outside of a chain. */
  depth?: number;
}

/** Answer to a delivery: the run that it starts, or the reason why it starts none. */
export interface DeliveryAnswer {
  number: string;
  runId?: string;
  reason?: string;
}

/**
 * Decides about the events of triggers. An event that starts a run is stored with the id of the run, its inputs and the
 * job of its start in one statement, before it is answered; so a process may be killed anywhere.
 */
@Injectable()
export class DeliveryIntake {
  private readonly compiled = new LRUCache<string, CompiledRules>({ max: MOST_COMPILED });

  constructor(
    private readonly deliveries: TriggerDeliveries,
    private readonly check: RunStartCheck,
    private readonly starts: DeliveryStarts,
  ) {}

  /**
   * Decides about an event, once for each id of a delivery: a repetition gets the first answer.
   * @throws ProblemError 422 naming the member of the trigger that gives no valid inputs; A2AError RATE_LIMITED while
   *   too many deliveries are open
   */
  async takeEvent(trigger: Trigger, incoming: IncomingEvent): Promise<DeliveryAnswer> {
    const known = await this.deliveries.findDecided(trigger.triggerId, incoming.deliveryId);
    if (known) return answerOf(known);
    await this.deliveries.requireRoom(trigger.triggerId, trigger.tenant);
    const delivery = newDelivery(trigger, incoming);
    try {
      const decision = await this.decideEvent(trigger, incoming);
      if ('inputs' in decision) return answerOf(await this.addStarting({ ...delivery, ...decision }));
      return answerOf(await this.deliveries.addDelivery({ ...delivery, ...decision }));
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status !== 422) throw error;
      const reason = textStart(error.message, LONGEST_REASON);
      await this.deliveries.addDelivery({ ...delivery, state: 'rejected', reason, errors: error.errors });
      throw error;
    }
  }

  /** Sends an event again, as a new delivery. @throws as `takeEvent` does */
  takeReplay(trigger: Trigger, event: TriggerEvent): Promise<DeliveryAnswer> {
    return this.takeEvent(trigger, { deliveryId: `replay:${randomUUID()}`, cause: 'replay', event });
  }

  /** Writes a delivery that starts a run, and starts the run in the background if this process has room. */
  private async addStarting(delivery: Omit<NewDelivery, 'state'>): Promise<DecidedDelivery> {
    const start = this.starts.reserveStart(delivery.scope.tenant);
    let added: DecidedDelivery | undefined;
    try {
      added = await this.deliveries.addDelivery({ ...delivery, state: 'starting', startsHere: start !== undefined });
      return added;
    } finally {
      start?.(added?.state === 'starting' ? added.number : undefined);
    }
  }

  private async decideEvent(trigger: Trigger, { event, depth = 0 }: IncomingEvent): Promise<RuleDecision> {
    if (depth > LONGEST_CHAIN) return { reason: `${LONGEST_CHAIN} runs in a row were started by the ends of others.` };
    const decision = this.compileRules(trigger).decideEvent(event);
    if ('inputs' in decision)
      await this.check.requireRunnable({ workflow: trigger.workflow, inputs: decision.inputs }, trigger);
    return decision;
  }

  /** Returns the compiled rules of a trigger. @throws ProblemError 422 if they do not compile any more */
  private compileRules({ triggerId, updatedAt, rules, source }: Trigger): CompiledRules {
    const key = `${triggerId}/${updatedAt.getTime()}`;
    const known = this.compiled.get(key);
    if (known) return known;
    const compiled = CompiledRules.compileRules(rules, kindOf(source));
    if (Array.isArray(compiled)) throw new ProblemError(422, 'the trigger is invalid', compiled);
    this.compiled.set(key, compiled);
    return compiled;
  }
}

function newDelivery(trigger: Trigger, { deliveryId, cause, event, depth = 0 }: IncomingEvent): NewDelivery {
  const { triggerId, workflow, tenant, owner } = trigger;
  return {
    ...{ triggerId, scope: { tenant, owner }, workflow, deliveryId, cause, depth },
    state: depth > LONGEST_CHAIN ? 'skipped' : 'filtered',
    // The result of a run is for its owner only, so it is not kept for callers that send a delivery again.
    ...(cause !== 'run' && { event }),
  };
}

function answerOf({ number, state, run_id: runId, reason }: DecidedDelivery): DeliveryAnswer {
  // The run of a failed delivery never started.
  return { number, ...(runId !== null && state !== 'failed' && { runId }), ...(reason !== null && { reason }) };
}
