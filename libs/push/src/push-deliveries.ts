import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { type JobContext, Jobs } from '#libs/jobs';
import { isDatabaseAway } from '#libs/postgres';
import { Metrics } from '#libs/service';
import { TaskStore } from '#libs/tasks';
import { DELIVER, readDeliverPayload } from './deliver-job.js';
import { DeliveryStore } from './delivery-store.js';
import type { DueConfig } from './due-config.js';
import { NotificationSender } from './notification-sender.js';
import { type PushLane, WebhookThrottle } from './webhook-throttle.js';
import { readRedelivery, REDELIVER, type RedeliverPayload, redeliverLater } from './redeliver-job.js';
import { type AttemptOutcome, finalReason, isUnanswered, pauseAfter, backOffAfter } from './retry-plan.js';
import { readServePayload, SERVE, type ServePayload } from './serve-job.js';

/** Events of one Task that are sent before others of the same receiver have their turn. */
const PAGE = 10;
/** How long one job goes on while others may wait for its place. */
const TURN_MS = 10_000;
/** Lanes that one process works in at once: one of its four jobs is for whatever else is to be done. */
const LANES_AT_ONCE = 3;
/** How long that one waits for a lane to end before its job is put off. */
const ROOM_MS = 200;
const ROOM_POLL_MS = 10;
/** Before it is looked again for what is being committed at this moment. */
const COMMITTING_MS = 20;
/** After a fault of ours, which is no attempt. */
const FAULT_PAUSE_MS = 30_000;
/** After the loss of a session with the database. */
const LOSS_PAUSE_MS = 1_000;
const REVIVE = { name: 'push.revive', match: '*/10 * * * *' };

/**
 * Sends notifications: a job for each lane of a receiver, which takes the configs that wait for it, the one that has
 * waited longest first, and reads each one's log from the last event that was taken. So every event is sent, in order,
 * at least once, and none before the one ahead of it was taken; and a receiver that does not answer has its lanes
 * waiting and nothing else.
 */
@Injectable()
export class PushDeliveries {
  private readonly logger = new Logger(PushDeliveries.name);
  private readonly attempts;
  private serving = 0;

  constructor(
    private readonly jobs: Jobs,
    metrics: Metrics,
    private readonly lanes: WebhookThrottle,
    private readonly store: DeliveryStore,
    private readonly tasks: TaskStore,
    private readonly sender: NotificationSender,
  ) {
    this.attempts = metrics.counter(
      'parley_push_attempts_total',
      'Attempts at push notifications in this replica: retried ones come again, disabled ones ended their config',
      ['outcome'],
    );
    jobs.register(SERVE, { read: readServePayload, run: (payload, context) => this.serve(payload, context) });
    jobs.register(DELIVER, { read: readDeliverPayload, run: ({ pushId, turn }) => store.takeOver(pushId, turn) });
    jobs.register(REDELIVER, { read: readRedelivery, run: (payload, context) => this.redeliver(payload, context) });
    jobs.register(REVIVE.name, { read: () => undefined, run: () => this.revive() });
    jobs.every(REVIVE);
  }

  private async serve(job: ServePayload, { signal }: JobContext): Promise<void> {
    if (!(await this.takePlace(signal))) return this.lanes.putOff(job);
    try {
      const lane = await this.lanes.enter(job);
      if (lane) await this.workIn(lane, signal);
    } finally {
      this.serving -= 1;
    }
  }

  /** One of the places for lanes, to be given back; `false` where none becomes free soon. */
  private async takePlace(signal: AbortSignal): Promise<boolean> {
    for (const until = Date.now() + ROOM_MS; this.serving >= LANES_AT_ONCE;) {
      if (Date.now() > until) return false;
      await delay(ROOM_POLL_MS, undefined, { signal });
    }
    this.serving += 1;
    return true;
  }

  private async workIn(lane: PushLane, signal: AbortSignal): Promise<void> {
    for (const until = Date.now() + TURN_MS; ;) {
      signal.throwIfAborted();
      const config = await this.lanes.next(lane);
      if (config) await this.work(lane, config, until, signal);
      else if (await this.lanes.leave(lane)) return;
      else await delay(COMMITTING_MS);
      if (config && lane.failures > 0) return this.lanes.goOn(lane, new Date(Date.now() + backOffAfter(lane.failures)));
      if (Date.now() > until) return this.lanes.goOn(lane, new Date());
    }
  }

  private async work(lane: PushLane, config: DueConfig, until: number, signal: AbortSignal): Promise<void> {
    try {
      const outcome = await this.deliver(config, until, signal);
      if (outcome) lane.failures = isUnanswered(outcome) ? lane.failures + 1 : 0;
    } catch (error) {
      signal.throwIfAborted();
      // Others of the same receiver do not wait for it. Where the database is away, this fails as well, and the job.
      const isLoss = isDatabaseAway(error);
      await this.store.putBack(config, new Date(Date.now() + (isLoss ? LOSS_PAUSE_MS : FAULT_PAUSE_MS)));
      const { pushId, taskId } = config;
      const line = { err: error, pushId, taskId };
      if (isLoss) this.logger.warn(line, 'A session was lost while a push notification was sent; it is tried again');
      else this.logger.error(line, 'A push notification could not be sent; it is tried again');
    }
  }

  /** @returns what came of the last attempt, if there was one */
  private async deliver(first: DueConfig, until: number, signal: AbortSignal): Promise<AttemptOutcome | undefined> {
    let config = first;
    let outcome: AttemptOutcome | undefined;
    const events = await this.tasks.events(config.taskId, config.deliveredSequence, PAGE);
    for (const event of events) {
      if (outcome && Date.now() > until) break;
      outcome = await this.sender.send(config, event, signal);
      if (!outcome.delivered) {
        await this.fail(config, event.sequence, outcome);
        return outcome;
      }
      this.attempts.inc({ outcome: 'delivered' });
      if (!(await this.store.delivered(config, event.sequence, outcome))) return outcome;
      config = { ...config, deliveredSequence: event.sequence, attempts: 0 };
    }
    if (!(await this.store.backOff(config))) await this.store.putBack(config);
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

  /** In a lane as well: those that were asked for take no more of the receiver's time, and of ours, than the others. */
  private async redeliver(job: RedeliverPayload, { signal }: JobContext): Promise<void> {
    if (!(await this.takePlace(signal))) return this.jobs.enqueue([redeliverLater(job)]);
    try {
      const lane = await this.lanes.enter({ ...job, failures: 0 });
      if (!lane) return await this.jobs.enqueue([redeliverLater(job)]);
      await this.sendAgain(job, signal);
      await this.workIn(lane, signal);
    } finally {
      this.serving -= 1;
    }
  }

  /** Once more for a receiver that had it already; what comes of it is in the ledger, and it is not tried again. */
  private async sendAgain({ pushId, sequence }: RedeliverPayload, signal: AbortSignal): Promise<void> {
    const config = await this.store.config(pushId);
    const [event] = config ? await this.tasks.events(config.taskId, sequence - 1, 1) : [];
    if (!config || !event) return;
    const outcome = await this.sender.send(config, event, signal);
    this.attempts.inc({ outcome: outcome.delivered ? 'delivered' : 'failed' });
    await this.store.repeated(config, sequence, outcome);
  }

  private async revive(): Promise<void> {
    const lost = await this.lanes.revive();
    if (lost > 0) this.logger.warn({ lost }, 'Deliveries that no job worked on any more go on');
  }
}
