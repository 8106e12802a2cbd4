import { Injectable } from '@nestjs/common';
import { CompactSign } from 'jose';
import { OutboundHttp } from '#libs/http-client';
import { SIGNATURE_TYPES, SigningKeys } from '#libs/http-server';
import { readTraceContext, type TraceHeaders } from '#libs/service';
import { begunTask, type RecordedEvent, TaskStore } from '#libs/tasks';
import { Tracing, turnKey } from '#libs/tracing';
import {
  isLegacyConfig,
  LegacyBodies,
  type Notification,
  NOTIFICATION_SIGNATURE,
  notificationHeaders,
  notificationOf,
} from './notification-request.js';
import type { DueConfig } from './push-queues.js';
import { PushSecretBox } from './push-secrets.js';
import { type AttemptOutcome, outcomeOfAnswer, outcomeOfError } from './retry-plan.js';

/**
 * Validity of a signature in seconds. Each attempt is signed again, so this covers the transmission and the difference
 * of two clocks.
 */
const VALID_SECONDS = 300;

/**
 * Signs notifications: a JWS with detached content over the body's bytes (RFC 7515, appendix F).
 * - The protected header names the type (`typ`), the URL of the config (`aud`), the notification (`jti`, and `nid` for
 *   receivers older than `jti`), and the validity (`iat`, `exp`; RFC 7519).
 * - A signature therefore fits no other notification, no other receiver, and no other time.
 * - The key is published in `/.well-known/jwks.json`.
 */
@Injectable()
export class NotificationSigner {
  constructor(private readonly keys: SigningKeys) {}

  /** Signs a notification. @param receiver URL of the webhook in its config */
  async signNotification({ id, body }: Pick<Notification, 'id' | 'body'>, receiver: string): Promise<string> {
    const { kid, key } = await this.keys.getSigningKey();
    const iat = Math.floor(Date.now() / 1000);
    const said = { jti: id, nid: id, aud: receiver, iat, exp: iat + VALID_SECONDS };
    const header = { alg: 'ES256', typ: SIGNATURE_TYPES.notification, kid, ...said };
    const jws = await new CompactSign(Buffer.from(body)).setProtectedHeader(header).sign(key);
    const [head, , signature] = jws.split('.');
    return `${head}..${signature}`;
  }
}

/** Maximum number of Tasks with cached traces. */
const MOST_KEPT = 1_000;

/** Caches the trace of each Task whose events are sent; the trace is read from the Task's first event. */
class TaskTraces {
  private readonly kept = new Map<string, TraceHeaders>();

  constructor(
    private readonly tasks: Pick<TaskStore, 'readEvents'>,
    private readonly tracing: Pick<Tracing, 'traceTurn'>,
  ) {}

  /** Returns the trace headers of a notification. The parent span is the first turn of the Task. */
  async traceHeadersOf({ taskId, sequence, event }: RecordedEvent): Promise<TraceHeaders> {
    const known = this.kept.get(taskId);
    if (known) return known;
    const task = sequence === 1 && 'task' in event ? event.task : await begunTask(this.tasks, taskId);
    const { traceparent, tracestate } = task?.metadata ?? {};
    const parent = readTraceContext(traceparent, tracestate);
    const headers =
      this.tracing.traceTurn({ taskId, began: 1, ...(parent && { parent }) })?.headersBelow(...turnKey(1)) ?? {};
    if (this.kept.size >= MOST_KEPT) this.kept.delete(this.kept.keys().next().value!);
    this.kept.set(taskId, headers);
    return headers;
  }
}

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
   * Sends a notification. Failures of the receiver are outcomes; the promise rejects with the signal's reason, or with
   * an internal error.
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
