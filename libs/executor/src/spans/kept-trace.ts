import { isWaitingState, type JsonObject, type SendMessageRequest } from '#libs/protocol';
import { readTraceContext, type TraceContext, traceHeaders } from '#libs/service';
import type { TaskEvent } from '#libs/tasks';
import type { CallContext } from '../agent-executor.js';

/**
 * What is kept of the trace that a Message came with: with the Task that it made, or with the event that took it in. What
 * the call said counts, whatever the Message says; where that could not be read a new trace begins.
 */
export function keptTrace({ message }: SendMessageRequest, { trace }: CallContext): JsonObject | undefined {
  if (trace === null) return undefined;
  const { traceparent, tracestate } = message.metadata ?? {};
  const context = trace ?? (traceparent === undefined ? undefined : readTraceContext(traceparent, tracestate));
  return context && { ...traceHeaders(context) };
}

/** The same, read again from the first event of a turn. */
export function inboundOf(opening: TaskEvent | undefined): TraceContext | undefined {
  if (opening === undefined || 'artifactUpdate' in opening) return undefined;
  return readKept('task' in opening ? opening.task.metadata : opening.statusUpdate.metadata);
}

export function readKept(metadata: JsonObject | undefined): TraceContext | undefined {
  return metadata?.['traceparent'] === undefined
    ? undefined
    : readTraceContext(metadata['traceparent'], metadata['tracestate']);
}

/** The sequence with which the turn begins that a log ends in: after the last time that the Task waited. */
export function turnBegin(log: readonly TaskEvent[]): number {
  return log.findLastIndex((event) => 'statusUpdate' in event && isWaitingState(event.statusUpdate.status.state)) + 2;
}
