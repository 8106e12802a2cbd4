import { isJsonObject, type JsonObject, streamEvent } from '#libs/protocol';
import type { CommittedEvent, TaskEvent } from '#libs/tasks';

/** Frame of one stream, projected from an event of a Task. */
export interface Projected {
  /** Name of the stream, by which clients select it. */
  stream: string;
  /** Fields of the frame, besides `stream` and `cursor`. Evaluated only if a client wants the frame. */
  readonly event: object;
  runId?: string;
  conversationId?: string;
}

/**
 * Projects an event to a frame of a stream; `undefined` if the event is irrelevant. The result must be the same at
 * every replica, since cursors name its frames. A new stream is a new projection, without changes to the gateway.
 */
export type EventProjection = (event: CommittedEvent) => Projected | undefined;

/** Stream of all events of all Tasks in the form of A2A. */
export const taskProjection: EventProjection = (source) => ({
  stream: 'task',
  get event() {
    const { taskId, sequence, header, json } = source;
    return { taskId, contextId: header.contextId, agent: header.agent, sequence, ...(JSON.parse(json) as object) };
  },
});

/** Stream events that other events carry, such as the turns of a conversation: passed on unchanged. */
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
