import { Injectable, Logger } from '@nestjs/common';
import { isDatabaseAway } from '#libs/postgres';
import { Metrics } from '#libs/service';
import { TaskStore } from '#libs/tasks';
import { DeliveryStore } from './delivery-store.js';
import { NotificationSender } from './notification-sender.js';
import { type DueConfig, type PushLane, PushQueues } from './push-queues.js';
import { PushRepeats } from './push-repeats.js';
import { type AttemptOutcome, finalReason, isUnanswered, pauseAfter } from './retry-plan.js';

/** Maximum number of events of one config that are sent before the next config of the queue. */
const PAGE = 10;
/** Maximum milliseconds that a lane (a worker on one queue) sends. After that, another queue gets a worker. */
const TURN_MS = 1_000;
/**
 * Maximum milliseconds within which an answer of a receiver counts as prompt. The lanes of slower receivers, and of
 * receivers that give no answer, may take only some of the places of this process (PushPlaces).
 */
const PROMPT_MS = 3_000;
/** Milliseconds until a retry after an internal error, which counts as no attempt. */
const FAULT_PAUSE_MS = 30_000;
/** Milliseconds until a retry after the loss of a database session. */
const LOSS_PAUSE_MS = 1_000;

/**
 * Limits of a lane (a worker on one queue): the time at which it must end, the maximum duration of an attempt, and an
 * abort signal.
 */
interface LaneTurn {
  lane: PushLane;
  until: number;
  attemptMs: number;
  signal: AbortSignal;
}

/**
 * Sends the notifications of a queue. Takes the waiting configs of the queue, longest wait first, and reads the log of
 * each config's Task from the last accepted event.
 * - Every event is sent at least once.
 * - Events are sent in order, each only after the receiver accepted the previous event.
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
   * Sends the due notifications of the lane's queue, until nothing is due, TURN_MS are over, or the receiver gave no
   * answer. Records in `lane` if the receiver answered, and how promptly. Rejects with the signal's reason, or if the
   * database is unreachable.
   * @param attemptMs time limit of one attempt, in milliseconds
   */
  async workLane(lane: PushLane, attemptMs: number, signal: AbortSignal): Promise<void> {
    const turn = { lane, until: Date.now() + TURN_MS, attemptMs, signal };
    if (!(await this.sendRepeats(turn))) return;
    do {
      signal.throwIfAborted();
      const config = await this.queues.takeNextConfig(lane);
      if (!config) return;
      await this.workOff(turn, config);
    } while (lane.failures === 0 && Date.now() < turn.until);
  }

  private async workOff(turn: LaneTurn, config: DueConfig): Promise<void> {
    try {
      await this.deliverEvents(turn, config);
    } catch (error) {
      turn.signal.throwIfAborted();
      // Configs of the same receiver do not wait for this one. If the database is unreachable, this fails as well, and
      // ends the turn.
      const isLoss = isDatabaseAway(error);
      await this.store.putBack(config, new Date(Date.now() + (isLoss ? LOSS_PAUSE_MS : FAULT_PAUSE_MS)));
      const { pushId, taskId } = config;
      const line = { err: error, pushId, taskId };
      if (isLoss) this.logger.warn(line, 'A session was lost while a push notification was sent; retrying');
      else this.logger.error(line, 'A push notification could not be sent; retrying');
    }
  }

  private async deliverEvents(turn: LaneTurn, first: DueConfig): Promise<void> {
    let config = first;
    let sent = false;
    const events = await this.tasks.readEvents(config.taskId, config.deliveredSequence, PAGE);
    for (const event of events) {
      if (sent && Date.now() > turn.until) break;
      const outcome = await this.attemptSend(turn, () =>
        this.sender.sendNotification(config, event, turn.attemptMs, turn.signal),
      );
      sent = true;
      if (!outcome.delivered) return this.recordFailure(config, event.sequence, outcome);
      this.attempts.inc({ outcome: 'delivered' });
      if (!(await this.store.recordDelivered(config, event.sequence, outcome))) return;
      config = { ...config, deliveredSequence: event.sequence, attempts: 0 };
    }
    if (!(await this.store.backOff(config))) await this.store.putBack(config);
  }

  /**
   * Sends one notification, and records in the lane if and how promptly the receiver answered. An attempt that sent
   * nothing (`refused`, `unreadable`) changes nothing in the lane.
   */
  private async attemptSend({ lane }: LaneTurn, send: () => Promise<AttemptOutcome>): Promise<AttemptOutcome> {
    const from = performance.now();
    const outcome = await send();
    if (outcome.error === 'refused' || outcome.error === 'unreadable') return outcome;
    lane.failures = isUnanswered(outcome) ? lane.failures + 1 : 0;
    lane.answered = lane.failures === 0 && performance.now() - from < PROMPT_MS;
    return outcome;
  }

  private async recordFailure(config: DueConfig, sequence: number, outcome: AttemptOutcome): Promise<void> {
    const attempts = config.attempts + 1;
    const reason = finalReason(outcome, attempts);
    const { taskId, pushId } = config;
    if (reason === undefined) {
      this.attempts.inc({ outcome: 'retried' });
      return this.store.recordFailed(config, sequence, outcome, new Date(Date.now() + pauseAfter(attempts, outcome)));
    }
    this.attempts.inc({ outcome: 'disabled' });
    this.logger.warn({ taskId, pushId, sequence, reason }, 'A push notification config was disabled');
    await this.store.disableConfig(config, sequence, outcome, reason);
  }

  /**
   * Sends the notifications that the owners of the webhooks have requested to be sent again. Outcomes are recorded in
   * `push_delivery`, without retries.
   * @returns false if the lane must end: its time is over, or the receiver gave no answer
   */
  private async sendRepeats(turn: LaneTurn): Promise<boolean> {
    for (;;) {
      turn.signal.throwIfAborted();
      const repeat = await this.repeats.takeNextRepeat(turn.lane);
      if (!repeat) return true;
      const { pushId, sequence } = repeat;
      const config = await this.store.findConfig(pushId);
      const [event] = config ? await this.tasks.readEvents(config.taskId, sequence - 1, 1) : [];
      if (config && event) {
        const outcome = await this.attemptSend(turn, () =>
          this.sender.sendNotification(config, event, turn.attemptMs, turn.signal),
        );
        this.attempts.inc({ outcome: outcome.delivered ? 'delivered' : 'failed' });
        await this.store.recordRepeated(config, sequence, outcome);
      }
      await this.repeats.forgetRepeat(repeat);
      if (turn.lane.failures > 0 || Date.now() > turn.until) return false;
    }
  }
}
