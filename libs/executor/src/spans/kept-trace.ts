import { isWaitingState, type JsonObject, type SendMessageRequest } from '#libs/protocol';
import { readTraceContext, type TraceContext, traceHeaders } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import type { CallContext } from '../agent-executor.js';

/**
 * Returns the trace headers to keep with the Task that a Message creates, or with the event that accepts it. The trace
 * context of the call takes precedence over the Message's metadata; an unreadable one begins a new trace.
 */
export function keptTrace({ message }: SendMessageRequest, { trace }: CallContext): JsonObject | undefined {
  if (trace === null) return undefined;
  const { traceparent, tracestate } = message.metadata ?? {};
  const context = trace ?? (traceparent === undefined ? undefined : readTraceContext(traceparent, tracestate));
  return context && { ...traceHeaders(context) };
}

/** Returns the trace context that is kept in the first event of a turn. */
export function inboundOf(opening: TaskEvent | undefined): TraceContext | undefined {
  if (opening === undefined || 'artifactUpdate' in opening) return undefined;
  return readKept('task' in opening ? opening.task.metadata : opening.statusUpdate.metadata);
}

export function readKept(metadata: JsonObject | undefined): TraceContext | undefined {
  return metadata?.['traceparent'] === undefined
    ? undefined
    : readTraceContext(metadata['traceparent'], metadata['tracestate']);
}

/** Returns the sequence at which the last turn of a log begins: after the last time that the Task waited. */
export function turnBegin(log: readonly TaskEvent[]): number {
  return log.findLastIndex((event) => 'statusUpdate' in event && isWaitingState(event.statusUpdate.status.state)) + 2;
}
