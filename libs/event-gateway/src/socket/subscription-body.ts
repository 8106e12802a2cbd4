import { QueryText } from '#libs/http';
import { EventsQuery } from '../gateway-query.js';

const MAX_ID = 64;
const UNKNOWN = 'is not a member of this message';

/** Data of an `unsubscribe` message. */
export class SubscriptionId {
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

  /** Creates a body from the sent data: `null` counts as absent, and a list of streams is joined. */
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
