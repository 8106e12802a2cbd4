import { isJsonObject, type JsonObject, streamEvent } from '#libs/protocol';
import type { CommittedEvent, TaskEvent } from '#libs/tasks';

/** What an event of a Task means to those who watch: one frame of one stream. */
export interface Projected {
  /** The stream's name, by which clients choose. */
  stream: string;
  /** The frame's fields; `stream` and `cursor` are put beside them. Looked at only where somebody wants the frame. */
  readonly event: object;
  runId?: string;
  conversationId?: string;
}

/**
 * Tells what an event means to a stream; `undefined` where it means nothing. It must answer alike for the same event at
 * every replica: cursors name its frames. A new stream is a new projection, and nothing in the gateway changes.
 */
export type EventProjection = (event: CommittedEvent) => Projected | undefined;

/** The stream of all events of all Tasks as A2A shows them. */
export const taskProjection: EventProjection = (source) => ({
  stream: 'task',
  get event() {
    const { taskId, sequence, header, json } = source;
    return { taskId, contextId: header.contextId, agent: header.agent, sequence, ...(JSON.parse(json) as object) };
  },
});

/** Events that carry an event of a live stream with them, such as the turns of a conversation: shown as they are. */
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
