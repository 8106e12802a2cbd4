import { Injectable, Logger } from '@nestjs/common';
import { isDatabaseAway } from '#libs/postgres';
import { Metrics } from '#libs/service';
import { TaskStore } from '#libs/tasks';
import { DeliveryStore } from './delivery-store.js';
import type { DueConfig } from './due-config.js';
import { NotificationSender } from './notification-sender.js';
import { type PushLane, PushQueues } from './push-queues.js';
import { PushRepeats } from './push-repeats.js';
import { type AttemptOutcome, finalReason, isUnanswered, pauseAfter } from './retry-plan.js';

/** Events of one Task that are sent before others of the same queue have their turn. */
const PAGE = 10;
/** Time for which a lane works off one queue before those of other callers have their turn. */
const TURN_MS = 1_000;
/** An answer that takes longer costs so much of a place that the receiver counts with those that gave none. */
const PROMPT_MS = 3_000;
/** After a fault of ours, which is no attempt. */
const FAULT_PAUSE_MS = 30_000;
/** After the loss of a session with the database. */
const LOSS_PAUSE_MS = 1_000;

/** Turn of a lane: when it ends, and how long one attempt of it may take. */
interface LaneTurn {
  lane: PushLane;
  until: number;
  attemptMs: number;
  signal: AbortSignal;
}

/**
 * Sends the notifications of a queue: takes the configs that wait in it, the one that has waited longest first, and reads
 * each one's log from the last event that was taken. So every event is sent, in order, at least once, and none before
 * the one ahead of it was taken.
 */
@Injectable()
export class PushDeliveries {
  private readonly logger = new Logger(PushDeliveries.name);
  private readonly attempts;

  constructor(
    metrics: Metrics,
    private readonly queues: PushQueues,
    private readonly repeats: PushRepeats,
    private readonly store: DeliveryStore,
    private readonly tasks: TaskStore,
    private readonly sender: NotificationSender,
  ) {
    this.attempts = metrics.counter(
      'parley_push_attempts_total',
      'Attempts at push notifications in this replica: retried ones come again, disabled ones ended their config',
      ['outcome'],
    );
  }

  /**
   * Works in a lane until nothing of its queue is due, its turn is over or its receiver gave no answer; the lane knows
   * then what the receiver did. Rejects with the signal's reason, or where the database is away.
   */
  async work(lane: PushLane, attemptMs: number, signal: AbortSignal): Promise<void> {
    const turn = { lane, until: Date.now() + TURN_MS, attemptMs, signal };
    if (!(await this.sendRepeats(turn))) return;
    do {
      signal.throwIfAborted();
      const config = await this.queues.next(lane);
      if (!config) return;
      await this.workOff(turn, config);
    } while (lane.failures === 0 && Date.now() < turn.until);
  }

  private async workOff(turn: LaneTurn, config: DueConfig): Promise<void> {
    try {
      await this.deliver(turn, config);
    } catch (error) {
      turn.signal.throwIfAborted();
      // Others of the same receiver do not wait for it. Where the database is away, this fails as well, and the turn.
      const isLoss = isDatabaseAway(error);
      await this.store.putBack(config, new Date(Date.now() + (isLoss ? LOSS_PAUSE_MS : FAULT_PAUSE_MS)));
      const { pushId, taskId } = config;
      const line = { err: error, pushId, taskId };
      if (isLoss) this.logger.warn(line, 'A session was lost while a push notification was sent; it is tried again');
      else this.logger.error(line, 'A push notification could not be sent; it is tried again');
    }
  }

  private async deliver(turn: LaneTurn, first: DueConfig): Promise<void> {
    let config = first;
    let sent = false;
    const events = await this.tasks.events(config.taskId, config.deliveredSequence, PAGE);
    for (const event of events) {
      if (sent && Date.now() > turn.until) break;
      const outcome = await this.attempt(turn, () => this.sender.send(config, event, turn.attemptMs, turn.signal));
      sent = true;
      if (!outcome.delivered) return this.fail(config, event.sequence, outcome);
      this.attempts.inc({ outcome: 'delivered' });
      if (!(await this.store.delivered(config, event.sequence, outcome))) return;
      config = { ...config, deliveredSequence: event.sequence, attempts: 0 };
    }
    if (!(await this.store.backOff(config))) await this.store.putBack(config);
  }

  /** Makes an attempt, and notes what it says of the receiver. */
  private async attempt({ lane }: LaneTurn, send: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
    const from = performance.now();
    const outcome = await send();
    if (outcome.error === 'refused' || outcome.error === 'unreadable') return outcome;
    lane.failures = isUnanswered(outcome) ? lane.failures + 1 : 0;
    lane.answered = lane.failures === 0 && performance.now() - from < PROMPT_MS;
    return outcome;
  }

  private async fail(config: DueConfig, sequence: number, outcome: AttemptOutcome): Promise<void> {
    const attempts = config.attempts + 1;
    const reason = finalReason(outcome, attempts);
    const { taskId, pushId } = config;
    if (reason === undefined) {
      this.attempts.inc({ outcome: 'retried' });
      return this.store.failed(config, sequence, outcome, new Date(Date.now() + pauseAfter(attempts, outcome)));
    }
    this.attempts.inc({ outcome: 'disabled' });
    this.logger.warn({ taskId, pushId, sequence, reason }, 'A push notification config was disabled');
    await this.store.disabled(config, sequence, outcome, reason);
  }

  /**
   * Sends what its owner wants once more; what comes of it is in the ledger, and it is not tried again.
   * @returns false where the turn is over
   */
  private async sendRepeats(turn: LaneTurn): Promise<boolean> {
    for (;;) {
      turn.signal.throwIfAborted();
      const repeat = await this.repeats.next(turn.lane);
      if (!repeat) return true;
      const { pushId, sequence } = repeat;
      const config = await this.store.config(pushId);
      const [event] = config ? await this.tasks.events(config.taskId, sequence - 1, 1) : [];
      if (config && event) {
        const outcome = await this.attempt(turn, () => this.sender.send(config, event, turn.attemptMs, turn.signal));
        this.attempts.inc({ outcome: outcome.delivered ? 'delivered' : 'failed' });
        await this.store.repeated(config, sequence, outcome);
      }
      await this.repeats.done(repeat);
      if (turn.lane.failures > 0 || Date.now() > turn.until) return false;
    }
  }
}
