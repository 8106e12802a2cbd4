import { createHash } from 'node:crypto';
import type { RequestContext } from '#libs/agents';
import { callersMetadata, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Metadata key of the ids of the remote Task. */
const REMOTE_KEY = 'parley/remote';
/** Metadata key of the stored metadata of a request to the remote agent. */
const REQUEST_KEY = 'parley/request';

type ExternalLogEvent = Awaited<ReturnType<RequestContext['readTaskLog']>>[number];

/** Ids of a remote Task and its context. */
export interface RemoteTask {
  taskId: string;
  contextId: string;
}

/** Remote Task that the log of this Task records. "This Task" is the Task of the `external` node. */
export interface KnownRemote {
  remote: RemoteTask;
  /** True if an earlier execution of this turn recorded the remote Task, before a crash. */
  ofThisTurn: boolean;
}

/** Returns the metadata of an event that records the remote Task. */
export function remoteNote({ taskId, contextId }: RemoteTask): JsonObject {
  return { [REMOTE_KEY]: { taskId, contextId } };
}

/**
 * Wraps the metadata of a request in the entry under which the log of this Task stores it: in the metadata of the Task
 * for the first turn, or of an event for a later turn.
 * @param passed metadata that is sent to the remote agent with the request
 */
export function requestNote(passed: JsonObject): JsonObject {
  return { [REQUEST_KEY]: passed };
}

/** True for the first execution of a turn that answers or continues an existing Task. */
export function isNewFollowUp({ task, recovered }: RequestContext): boolean {
  return task !== null && recovered === 0;
}

/**
 * Returns the metadata of the turn's request that is sent to the remote agent; `undefined` if the request has none. A
 * turn that resumes after a crash reads the metadata from the Task or its log, where `requestNote` has stored it.
 */
export async function findRequestMetadata(context: RequestContext): Promise<JsonObject | undefined> {
  const { metadata, task, recovered } = context;
  const asked = callersMetadata(metadata);
  if (asked) return asked;
  if (task === null) return recordedIn(metadata?.[REQUEST_KEY]);
  if (recovered === 0) return undefined;
  const events = (await context.readTaskLog()).slice(-recovered);
  return recordedIn(events.map((event) => noteIn(event, REQUEST_KEY)).find((it) => it !== undefined));
}

function recordedIn(note: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(note) ? callersMetadata(note) : undefined;
}

/**
 * Returns the newest remote Task that the log of this Task records; `undefined` if it records none. The log is not read
 * for a new Task.
 */
export async function findKnownRemote(context: RequestContext): Promise<KnownRemote | undefined> {
  if (context.task === null && context.recovered === 0) return undefined;
  const log = await context.readTaskLog();
  const index = log.findLastIndex((event) => remoteIn(event) !== undefined);
  const event = log[index];
  const remote = event && remoteIn(event);
  return remote && { remote, ofThisTurn: index >= log.length - context.recovered };
}

/**
 * Returns the time at which an earlier execution began this turn, in milliseconds of the epoch; `undefined` if this is
 * the first execution of the turn.
 */
export async function findTimeOfTurn(context: RequestContext): Promise<number | undefined> {
  if (context.recovered === 0) return undefined;
  const opening = (await context.readTaskLog()).at(-context.recovered - 1);
  if (opening === undefined || 'artifactUpdate' in opening) return undefined;
  const { timestamp } = 'task' in opening ? opening.task.status : opening.statusUpdate.status;
  return timestamp === undefined ? undefined : Date.parse(timestamp);
}

function remoteIn(event: ExternalLogEvent): RemoteTask | undefined {
  const remote = noteIn(event, REMOTE_KEY);
  return isJsonObject(remote) ? (remote as unknown as RemoteTask) : undefined;
}

function noteIn(event: ExternalLogEvent, key: string): JsonValue | undefined {
  const metadata: JsonObject | undefined = 'statusUpdate' in event ? event.statusUpdate.metadata : undefined;
  return metadata?.[key];
}

/**
 * Returns a Message id that is the same for each attempt of a turn, so that the remote agent can detect a repeated
 * Message.
 */
export function messageIdOf({ taskId, userMessage: { messageId } }: RequestContext): string {
  const hash = createHash('sha256').update(`${taskId}/${messageId}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
