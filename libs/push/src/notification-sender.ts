import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '#libs/outbound';
import { type RecordedEvent, TaskStore } from '#libs/tasks';
import { Tracing } from '#libs/tracing';
import type { DueConfig } from './due-config.js';
import { LegacyBodies } from './legacy-bodies.js';
import { isLegacyConfig, NOTIFICATION_SIGNATURE, notificationHeaders, notificationOf } from './notification-request.js';
import { NotificationSigner } from './notification-signer.js';
import { PushSecretBox } from './push-secrets.js';
import { TaskTraces } from './task-traces.js';
import { outcomeOfAnswer, type AttemptOutcome, outcomeOfError } from './retry-plan.js';

const UNREADABLE: AttemptOutcome = { delivered: false, error: 'unreadable' };

/** Sends one notification once. Redirects are not followed, and the response body is not read. */
@Injectable()
export class NotificationSender {
  private readonly legacy: LegacyBodies;
  private readonly traces: TaskTraces;

  constructor(
    private readonly outbound: OutboundHttp,
    private readonly signer: NotificationSigner,
    private readonly secrets: PushSecretBox,
    tasks: TaskStore,
    tracing: Tracing,
  ) {
    this.legacy = new LegacyBodies(tasks);
    this.traces = new TaskTraces(tasks, tracing);
  }

  /**
   * Sends a notification. Failures of the receiver are outcomes; it rejects with the signal's reason, or with an
   * internal error.
   * @param totalMs maximum duration of the attempt, in milliseconds
   */
  async sendNotification(
    config: DueConfig,
    event: RecordedEvent,
    totalMs: number,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    const secrets = this.secrets.openIfReadable(config);
    if (secrets === undefined) return UNREADABLE;
    const legacyBody = isLegacyConfig(config) ? await this.legacy.renderBody(event) : undefined;
    const notification = notificationOf(config, event, legacyBody);
    const signature = await this.signer.signNotification(notification, config.url);
    const headers = {
      ...notificationHeaders(config, secrets, notification),
      [NOTIFICATION_SIGNATURE]: signature,
      ...(await this.traces.traceHeadersOf(event)),
    };
    const url = new URL(config.url);
    const { body } = notification;
    try {
      const answer = await this.outbound.request({ url, method: 'POST', headers, body, signal, totalMs });
      answer.discardBody();
      return outcomeOfAnswer(answer.status, answer.getHeader('retry-after'));
    } catch (error) {
      signal.throwIfAborted();
      return outcomeOfError(error);
    }
  }
}
