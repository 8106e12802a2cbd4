import type { Message, StreamResponse, Task } from '#libs/protocol';
import { type RecordedEvent, toStreamResponse } from '#libs/tasks';

/** Item of a stream, for all bindings and in-process callers. */
export interface StreamItem {
  /** Sequence of the Task's log that a reader has seen with this item; absent for a direct Message. */
  readonly sequence?: number;
  /** Item as a serialized ProtoJSON StreamResponse. */
  readonly json: string;
  /** Item as a value, parsed when first used. */
  readonly response: StreamResponse;
}

/** Creates an item with the Task at a sequence of its log. */
export function taskItem(task: Task, sequence: number): StreamItem {
  const response = { task };
  return { sequence, json: JSON.stringify(response), response };
}

/** Creates an item with a direct Message. */
export function messageItem(message: Message): StreamItem {
  const response = { message };
  return { json: JSON.stringify(response), response };
}

/** Creates an item with a recorded event, whose stored JSON is sent unchanged. */
export function eventItem(recorded: RecordedEvent): StreamItem {
  return new EventItem(recorded);
}

class EventItem implements StreamItem {
  readonly sequence: number;
  readonly json: string;

  constructor(private readonly recorded: RecordedEvent) {
    this.sequence = recorded.sequence;
    this.json = recorded.json;
  }

  get response(): StreamResponse {
    return toStreamResponse(this.recorded.event);
  }
}
