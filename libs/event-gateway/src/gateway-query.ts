import { A2AError, invalidParams } from '#libs/protocol';
import { COMMITS_KEPT_MS, type CommittedEvent, type TaskScope } from '#libs/tasks';
import type { Projected } from './event-projection.js';
import { decodeCursor, notACursor, type Place } from './gateway-cursor.js';

/** What a client wants to see, of what is its own. */
export interface GatewayQuery {
  scope: TaskScope;
  streams: ReadonlySet<string>;
  runId?: string;
  conversationId?: string;
  taskId?: string;
  contextId?: string;
  since?: Place;
}

/** Frames of this stream come only to clients that name it (row A18). */
const ONLY_ON_REQUEST = 'tool';
const IDS = ['runId', 'conversationId', 'taskId', 'contextId'] as const;
const MAX_ID = 512;
/** No service gave out a cursor before this time, or gives one out that is so far ahead of its own clock. */
const FIRST_CURSOR = Date.UTC(2020, 0);
const LARGEST_CLOCK_DIFFERENCE_MS = 24 * 60 * 60 * 1000;

/**
 * Reads the parameters of the gateway. Parameters of another name are left alone.
 * @param known the names of all streams
 * @throws A2AError INVALID_PARAMS naming the parameter; with status 410 for a cursor that is too old
 */
export function readGatewayQuery(
  query: Record<string, unknown>,
  known: readonly string[],
  scope: TaskScope,
): GatewayQuery {
  const since = one(query, 'since');
  return {
    scope,
    streams: readStreams(one(query, 'streams'), known),
    ...Object.fromEntries(IDS.flatMap((name) => (query[name] === undefined ? [] : [[name, readId(query, name)]]))),
    ...(since !== undefined && since !== '' && { since: readCursor(since) }),
  };
}

/** Whether a client may see a frame, and wants it. */
export function wants(query: GatewayQuery, { header }: CommittedEvent, { stream, ...of }: Projected): boolean {
  if (header.owner !== query.scope.owner || header.tenant !== query.scope.tenant) return false;
  if (!query.streams.has(stream)) return false;
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
  const description = `names no stream: "${strange.slice(0, 64)}"; the streams are ${known.join(', ')}`;
  throw invalidParams({ field: 'streams', description });
}

function readId(query: Record<string, unknown>, name: (typeof IDS)[number]): string {
  const id = one(query, name);
  if (id !== undefined && id !== '' && id.length <= MAX_ID) return id;
  throw invalidParams({ field: name, description: `must be an id of at most ${MAX_ID} characters` });
}

function readCursor(text: string): Place {
  const place = decodeCursor(text);
  const [at, now] = [place.at.getTime(), Date.now()];
  if (at < FIRST_CURSOR || at > now + LARGEST_CLOCK_DIFFERENCE_MS) throw notACursor();
  if (at >= now - COMMITS_KEPT_MS) return place;
  throw new A2AError('INVALID_PARAMS', {
    message: 'The cursor is too old: what came after it is no longer kept in order; begin anew without it',
    violations: [{ field: 'since', description: 'is too old' }],
    status: 410,
  });
}

function one(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw invalidParams({ field: name, description: 'must be given once' });
}
