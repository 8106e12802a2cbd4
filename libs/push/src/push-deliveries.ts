import { Injectable, Logger } from '@nestjs/common';
import { type JobContext, Jobs, Metrics } from '#libs/platform';
import { type RecordedEvent, TaskStore } from '#libs/tasks';
import { DELIVER, type DeliverPayload, readDeliverPayload } from './deliver-job.js';
import { DeliveryStore, type DueConfig } from './delivery-store.js';
import { NotificationSender } from './notification-sender.js';
import { Receivers } from './receivers.js';
import { readRedelivery, REDELIVER, type RedeliverPayload } from './redeliver-job.js';
import { type AttemptOutcome, finalReason, pauseAfter } from './retry-plan.js';

/** Events read at once. */
const PAGE = 10;
/** How long one job goes on while others may wait for its place. */
const TURN_MS = 10_000;
const REVIVE = { name: 'push.revive', match: '*/10 * * * *' };

/**
 * Sends notifications: one job at a time for each config, which reads the Task's log from the last event that the
 * receiver took. So every event is sent, in order, at least once, and none before the one ahead of it was taken.
 */
@Injectable()
export class PushDeliveries {
  private readonly logger = new Logger(PushDeliveries.name);
  private readonly receivers = new Receivers();
  private readonly attempts;

  constructor(
    jobs: Jobs,
    metrics: Metrics,
    private readonly store: DeliveryStore,
    private readonly tasks: TaskStore,
    private readonly sender: NotificationSender,
  ) {
    this.attempts = metrics.counter(
      'parley_push_attempts_total',
      'Attempts at push notifications in this replica: retried ones come again, disabled ones ended their config',
      ['outcome'],
    );
    jobs.register(DELIVER, { read: readDeliverPayload, run: (payload, context) => this.deliver(payload, context) });
    jobs.register(REDELIVER, { read: readRedelivery, run: (payload, context) => this.redeliver(payload, context) });
    jobs.register(REVIVE.name, { read: () => undefined, run: () => this.revive() });
    jobs.every(REVIVE);
  }

  private async deliver({ pushId, turn }: DeliverPayload, { signal }: JobContext): Promise<void> {
    let config = await this.store.due(pushId, turn);
    const until = Date.now() + TURN_MS;
    while (config) {
      const events: RecordedEvent[] = await this.tasks.events(config.taskId, config.deliveredSequence, PAGE);
      if (events.length === 0 && (await this.store.rest(config))) return;
      for (const event of events) {
        if (Date.now() > until) return this.store.continueAt(config, new Date());
        if (!(await this.attempt(config, event, signal))) return;
        config = { ...config, deliveredSequence: event.sequence, attempts: 0 };
      }
    }
  }

  /** @returns whether the next event may follow */
  private async attempt(config: DueConfig, event: RecordedEvent, signal: AbortSignal): Promise<boolean> {
    const { origin } = new URL(config.url);
    const wait = this.receivers.enter(origin);
    if (wait > 0) {
      await this.store.continueAt(config, new Date(Date.now() + wait * (1 + Math.random() / 4)));
      return false;
    }
    const outcome = await this.send(config, event, signal, origin);
    if (!outcome.delivered) {
      await this.fail(config, event.sequence, outcome);
      return false;
    }
    this.attempts.inc({ outcome: 'delivered' });
    return this.store.delivered(config, event.sequence, outcome);
  }

  private async send(
    config: DueConfig,
    event: RecordedEvent,
    signal: AbortSignal,
    origin: string,
  ): Promise<AttemptOutcome> {
    let outcome: AttemptOutcome | undefined;
    try {
      signal.throwIfAborted();
      outcome = await this.sender.send(config, event, signal);
      return outcome;
    } finally {
      this.receivers.leave(origin, outcome);
    }
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

  /** Once more for a receiver that had it already; what comes of it is in the ledger, and it is not tried again. */
  private async redeliver({ pushId, sequence }: RedeliverPayload, { signal }: JobContext): Promise<void> {
    const config = await this.store.config(pushId);
    const [event] = config ? await this.tasks.events(config.taskId, sequence - 1, 1) : [];
    if (!config || !event) return;
    const outcome = await this.sender.send(config, event, signal);
    this.attempts.inc({ outcome: outcome.delivered ? 'delivered' : 'failed' });
    await this.store.repeated(config, sequence, outcome);
  }

  private async revive(): Promise<void> {
    const configs = await this.store.revive();
    if (configs > 0) this.logger.warn({ configs }, 'Deliveries that no job worked on any more go on');
  }
}
