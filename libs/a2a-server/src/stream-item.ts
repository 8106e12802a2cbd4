import type { Message, StreamResponse, Task } from '#libs/protocol';
import { type RecordedEvent, toStreamResponse } from '#libs/tasks';

/** One item of a stream, as every binding and in-process callers take it. */
export interface StreamItem {
  /** The sequence of the Task's log that a reader has seen with this item; a direct Message has none. */
  readonly sequence?: number;
  /** The item as a ProtoJSON StreamResponse, ready to be sent. */
  readonly json: string;
  /** The item as a value; parsed when it is first asked for. */
  readonly response: StreamResponse;
}

/** The Task as it stands at a sequence of its log. */
export function taskItem(task: Task, sequence: number): StreamItem {
  const response = { task };
  return { sequence, json: JSON.stringify(response), response };
}

/** An answer that needed no Task. */
export function messageItem(message: Message): StreamItem {
  const response = { message };
  return { json: JSON.stringify(response), response };
}

/** An event that was recorded; its stored JSON is sent as it is. */
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
