import { type ProblemEntry, QueryText } from '#libs/http-server';
import { A2AError, invalidParams, isJsonObject, type JsonObject, streamEvent, textStart } from '#libs/protocol';
import { COMMITS_KEPT_MS, type CommittedEvent, type TaskEvent, type TaskScope } from '#libs/tasks';
import { type CursorPlace, decodeCursor, notACursor } from './gateway-cursor.js';

/** Frame of one stream, projected from an event of a Task. */
export interface Projected {
  /** Name of the stream, as clients select it. */
  stream: string;
  /** Fields of the frame, besides `stream` and `cursor`. Evaluated only if a client wants the frame. */
  readonly event: object;
  runId?: string;
  conversationId?: string;
}

/**
 * Projects an event of a Task to a frame of a stream; `undefined` if the event has no frame in that stream. The
 * result must be the same at every replica, since cursors count the frames of an event. To add a stream, add a
 * projection; the gateway does not change.
 */
export type EventProjection = (event: CommittedEvent) => Projected | undefined;

/** Projects every event of every Task to a frame of the stream `task`, in the form of A2A. */
export const taskProjection: EventProjection = (source) => ({
  stream: 'task',
  get event() {
    const { taskId, sequence, header, json } = source;
    return { taskId, contextId: header.contextId, agent: header.agent, sequence, ...(JSON.parse(json) as object) };
  },
});

/**
 * Projects the event of another stream, such as a turn of a conversation, that the metadata of a Task's event
 * contains.
 */
export const carriedProjection: EventProjection = ({ event }) => {
  const carried = streamEvent(metadataOf(event));
  if (!carried) return undefined;
  const conversationId = isJsonObject(carried.data) ? carried.data.conversationId : undefined;
  return { stream: carried.stream, event: carried, ...(typeof conversationId === 'string' && { conversationId }) };
};

function metadataOf(event: TaskEvent): JsonObject | undefined {
  if ('task' in event) return event.task.metadata;
  return 'statusUpdate' in event ? event.statusUpdate.metadata : event.artifactUpdate.metadata;
}

/** Query of a client: filters on the events of its caller. */
export interface GatewayQuery {
  scope: TaskScope;
  streams: ReadonlySet<string>;
  runId?: string;
  conversationId?: string;
  taskId?: string;
  contextId?: string;
  since?: CursorPlace;
}

/** Stream whose frames are sent only to clients that name it. */
const ONLY_ON_REQUEST = 'tool';
/** Value of `streams` that opens a WebSocket without a query: only its subscriptions send frames. */
const NO_STREAM = 'none';
const MAX_ID = 512;
/** Earliest valid time in a cursor, in milliseconds since 1970. No cursor of this service contains an earlier one. */
const FIRST_CURSOR = Date.UTC(2020, 0);
/** Maximum lead of the time in a cursor over the clock of this process, in milliseconds. */
const LARGEST_CLOCK_DIFFERENCE_MS = 24 * 60 * 60 * 1000;

/** Query parameters of the gateway, for server-sent events and for the WebSocket. */
export class EventsQuery {
  static readonly exceptionFactory = (entries: ProblemEntry[]): Error =>
    invalidParams(...entries.map(({ path, detail }) => ({ field: path, description: detail })));

  @QueryText(() => true, '', {
    description: 'Names of streams, separated by commas; default: all but `tool`.',
    example: 'task,run',
  })
  streams?: string;

  @QueryId()
  runId?: string;

  @QueryId()
  conversationId?: string;

  @QueryId()
  taskId?: string;

  @QueryId()
  contextId?: string;

  @QueryText(() => true, '', {
    description: 'Cursor of the last frame received; `Last-Event-ID` has the same meaning.',
    example: 'mfx1k2~1.42',
  })
  since?: string;
}

/**
 * Parses the parameters of the gateway.
 * @param known the names of all streams
 * @throws A2AError INVALID_PARAMS naming the parameter; with status 410 for a cursor that is too old
 */
export function gatewayQuery(
  { streams, runId, conversationId, taskId, contextId, since }: EventsQuery,
  known: readonly string[],
  scope: TaskScope,
): GatewayQuery {
  const place = since === undefined || since === '' ? {} : { since: readCursor(since) };
  return { scope, streams: readStreams(streams, known), runId, conversationId, taskId, contextId, ...place };
}

/**
 * Parses the query of a connection without streams (`streams=none`).
 * @returns `undefined` if the query names streams, or omits `streams`: `gatewayQuery` then parses it
 * @throws A2AError INVALID_PARAMS, like gatewayQuery
 */
export function silentQuery(query: EventsQuery, known: readonly string[], scope: TaskScope): GatewayQuery | undefined {
  if (query.streams !== NO_STREAM) return undefined;
  return { ...gatewayQuery({ ...query, streams: undefined }, known, scope), streams: new Set() };
}

/**
 * True if a frame belongs to the caller of a query, and matches the filters of the query.
 * @param of frame to which the event was projected
 */
export function wantsFrame(query: GatewayQuery, { header }: CommittedEvent, of: Projected): boolean {
  if (header.owner !== query.scope.owner || header.tenant !== query.scope.tenant) return false;
  if (!query.streams.has(of.stream)) return false;
  if (query.taskId !== undefined && header.taskId !== query.taskId) return false;
  if (query.contextId !== undefined && header.contextId !== query.contextId) return false;
  if (query.conversationId !== undefined && of.conversationId !== query.conversationId) return false;
  return query.runId === undefined || [of.runId, header.taskId, header.parentTaskId].includes(query.runId);
}

function readStreams(text: string | undefined, known: readonly string[]): Set<string> {
  if (text === undefined || text === '') return new Set(known.filter((name) => name !== ONLY_ON_REQUEST));
  const named = text.split(',').map((name) => name.trim());
  const strange = named.find((name) => !known.includes(name));
  if (strange === undefined) return new Set(named);
  const description = `names no stream: "${textStart(strange, 64)}"; the streams are ${known.join(', ')}`;
  throw invalidParams({ field: 'streams', description });
}

function readCursor(text: string): CursorPlace {
  const place = decodeCursor(text);
  const [at, now] = [place.at.getTime(), Date.now()];
  if (at < FIRST_CURSOR || at > now + LARGEST_CLOCK_DIFFERENCE_MS) throw notACursor();
  if (at >= now - COMMITS_KEPT_MS) return place;
  throw new A2AError('INVALID_PARAMS', {
    message: 'The cursor is too old: the events after it are no longer kept in order; reconnect without it',
    violations: [{ field: 'since', description: 'is too old' }],
    status: 410,
  });
}

function QueryId(): PropertyDecorator {
  return QueryText((id) => id !== '' && id.length <= MAX_ID, `must be an id of at most ${MAX_ID} characters`, {
    example: '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52',
  });
}
