import { QueryText } from '#libs/http';
import { EventsQuery } from '../gateway-query.js';

const MAX_ID = 64;
const UNKNOWN = 'is not a member of this message';

/** The data of an `unsubscribe` message. */
export class SubscriptionId {
  static readonly exceptionFactory = EventsQuery.exceptionFactory;
  static readonly unknown = UNKNOWN;

  @Id()
  id!: string;
}

/** The data of a `subscribe` message: the query of a connection, with the name that its frames carry. */
export class SubscriptionBody extends EventsQuery {
  static readonly unknown = UNKNOWN;

  @Id()
  id!: string;

  /** Makes a body of what was sent: `null` counts as left out, and a list of streams is as good as a text. */
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

function Id(): PropertyDecorator {
  return QueryText((id) => id !== '' && id.length <= MAX_ID, `must be a text of 1 to ${MAX_ID} characters`, {
    required: true,
  });
}
