import { Logger, UseFilters } from '@nestjs/common';
import {
  type OnGatewayConnection,
  type OnGatewayDisconnect,
  SubscribeMessage,
  WebSocketGateway,
} from '@nestjs/websockets';
import { CallerLimits } from '#libs/access';
import { ProblemError, QueryText } from '#libs/http-server';
import { isDatabaseAway } from '#libs/postgres';
import { AppConfig, Metrics } from '#libs/service';
import { EventGateway, type Follow } from '../event-gateway.js';
import { EventsQuery } from '../gateway-query.js';
import { GatewayProblems, sendProblem, SocketLimitExceeded } from './gateway-adapter.js';
import {
  GatewayClient,
  INTERNAL_ERROR,
  type SocketAdmission,
  Subscription,
  TRY_AGAIN_LATER,
} from './gateway-client.js';

const MAX_ID = 64;
const UNKNOWN = 'is not a member of this message';

/** Data of an `unsubscribe` message. */
class SubscriptionId {
  static readonly exceptionFactory = EventsQuery.exceptionFactory;
  static readonly unknown = UNKNOWN;

  @SubscriptionIdText()
  id!: string;
}

/** Data of a `subscribe` message: the query of a connection, with the id that its frames contain. */
export class SubscriptionBody extends EventsQuery {
  static readonly unknown = UNKNOWN;

  @SubscriptionIdText()
  id!: string;

  /**
   * Creates a body from the data that a client sent: a member that is `null` counts as absent, and a list of streams
   * becomes one text with commas.
   */
  static from(sent: Record<string, unknown>): SubscriptionBody {
    const { id, streams, runId, conversationId, taskId, contextId, since } = sent;
    const named = Array.isArray(streams) && streams.every((it) => typeof it === 'string') ? streams.join() : streams;
    const given = Object.entries({ id, streams: named, runId, conversationId, taskId, contextId, since });
    return Object.assign(
      new SubscriptionBody(),
      Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== null)),
    );
  }
}

function SubscriptionIdText(): PropertyDecorator {
  return QueryText((id) => id !== '' && id.length <= MAX_ID, `must be a text of 1 to ${MAX_ID} characters`, {
    required: true,
  });
}

/**
 * Serves clients of the WebSocket `/events`: the query in the connection's address, and subscriptions that clients
 * begin and end by messages.
 *
 * - A subscription counts as a stream of its caller, and its beginning counts as a request (rate limit).
 * - The id of a subscription cannot be used again until the subscription has ended. A client can use at most
 *   SUBSCRIPTION_LIMIT ids at once.
 * - A failed subscription ends alone: its client gets the problem, then `unsubscribed`.
 */
@WebSocketGateway()
@UseFilters(GatewayProblems)
export class EventsGateway implements OnGatewayConnection, OnGatewayDisconnect {
  private readonly logger = new Logger(EventsGateway.name);
  private running = 0;

  constructor(
    private readonly gateway: EventGateway,
    private readonly limits: CallerLimits,
    private readonly config: AppConfig,
    metrics: Metrics,
  ) {
    const description = 'Subscriptions of WebSocket clients of the event gateway';
    metrics.gauge('parley_gateway_subscriptions', description, [], () => this.running);
  }

  /** Sends the frames of the query in the connection's address until the client leaves. */
  handleConnection(client: GatewayClient, admission: SocketAdmission): void {
    client.admission = admission;
    void this.serveConnection(client, admission.follow);
  }

  handleDisconnect(client: GatewayClient): void {
    client.markLeft();
  }

  /**
   * Begins a subscription; its first frame is `subscribed`.
   * @returns a promise that resolves when the subscription has begun
   * @throws ProblemError 409 if the id is in use
   * @throws SocketLimitExceeded if too many ids are in use
   * @throws A2AError RATE_LIMITED, or INVALID_PARAMS with status 410 for a cursor that is too old
   */
  @SubscribeMessage('subscribe')
  async beginSubscription(client: GatewayClient, { id, ...query }: SubscriptionBody): Promise<void> {
    const { scope, who } = client.admission;
    const subscription = this.reserveId(client, id);
    try {
      await this.gateway.turnOf(scope).awaitTurn(subscription.signal);
      const wanted = this.gateway.parseQuery(query, scope);
      this.limits.enterRequest(who)();
      const release = this.limits.enterStream(who);
      void subscription.ended.then(release);
      const follow = await this.gateway.followQuery(wanted, id);
      void this.serveSubscription(client, id, subscription, follow);
    } catch (error) {
      this.releaseId(client, id, subscription);
      throw error;
    }
  }

  /** Ends a subscription; no frame of it follows the response. @throws ProblemError 404 for an unknown id */
  @SubscribeMessage('unsubscribe')
  async endSubscription(client: GatewayClient, { id }: SubscriptionId): Promise<object> {
    const subscription = client.subscriptions.get(id);
    if (!subscription || subscription.signal.aborted) {
      throw new ProblemError(404, 'There is no subscription with this id');
    }
    subscription.cancelSubscription();
    await subscription.ended;
    return { type: 'unsubscribed', subscription: id };
  }

  /** Reserves the id of a subscription synchronously, so that no concurrent message takes the same id. */
  private reserveId(client: GatewayClient, id: string): Subscription {
    const { subscriptions, left } = client;
    // The client's subscriptions ended when it left, so a new one would never end.
    if (left.aborted) throw new ProblemError(410, 'The client has left');
    if (subscriptions.has(id)) throw new ProblemError(409, 'A subscription with this id is open');
    if (subscriptions.size >= this.config.subscriptionLimit) {
      throw new SocketLimitExceeded('Too many subscriptions on this socket');
    }
    const subscription = new Subscription();
    subscriptions.set(id, subscription);
    this.running += 1;
    return subscription;
  }

  private releaseId(client: GatewayClient, id: string, subscription: Subscription): void {
    this.running -= 1;
    client.subscriptions.delete(id);
    subscription.markEnded();
  }

  /** Sends the frames of a subscription until its end. Never rejects. */
  private async serveSubscription(
    client: GatewayClient,
    id: string,
    subscription: Subscription,
    follow: Follow,
  ): Promise<void> {
    const { signal } = subscription;
    try {
      for await (const { text } of follow(signal)) await client.deliverText(text, signal);
      this.releaseId(client, id, subscription);
    } catch (error) {
      this.releaseId(client, id, subscription);
      if (signal.aborted) return;
      sendProblem(client, error, id);
      await client.sendFrame({ type: 'unsubscribed', subscription: id });
    }
  }

  /** Sends the frames of the connection's query. Never rejects. */
  private async serveConnection(client: GatewayClient, follow: Follow): Promise<void> {
    try {
      for await (const { text } of follow(client.left)) await client.deliverText(text);
    } catch (error) {
      this.logger.warn({ err: error }, 'A client of the event gateway could not be served');
      if (isDatabaseAway(error))
        client.close(TRY_AGAIN_LATER, 'The database is unreachable; reconnect with your cursor');
      else client.close(INTERNAL_ERROR, 'Internal error; reconnect with your cursor');
    }
  }
}
