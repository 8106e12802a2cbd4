import type { TaskReference } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { ChildEnding, ChildUpdate } from './child-ending.js';
import type { NodeOutcomes } from './node-outcomes.js';
import { roundedToolResult } from './rounded-numbers.js';
import { stepEvent } from './run-ending.js';
import { a2aReceived } from './run-steps.js';

/** Yields the result of a node's call as events of the run. Record each event before you request the next. */
export function* createChildEvents(
  reference: TaskReference,
  outcomes: NodeOutcomes,
  news: ChildUpdate,
): Generator<TaskEvent> {
  const { node, step, ending } = news;
  const { id, type, instance } = node;
  if (step) {
    const named = { node_id: id, node_type: type, ...(instance !== id && { instance }) };
    yield stepEvent(reference, { type: step.type, ...named, payload: step.payload });
    if (step.type === 'tool.result')
      for (const note of roundedToolResult(node, step.payload['result'])) yield stepEvent(reference, note);
  }
  if (ending === undefined) return;
  if (ending.status !== undefined) yield createReceivedEvent(reference, news, ending);
  if (ending.kind === 'completed') yield* outcomes.completeNode(node, ending.status, ending.artifacts);
  if (ending.kind === 'failed') {
    const { failure: kind, error, retryAfter } = ending;
    yield* outcomes.failAttempt(node, { kind, error, ...(retryAfter !== undefined && { retryAfter }) });
  }
}

function createReceivedEvent(
  reference: TaskReference,
  { node, url, taskId, contextId }: ChildUpdate,
  ending: ChildEnding,
): TaskEvent {
  const count = ending.kind === 'completed' ? ending.artifacts.length : 0;
  const status = ending.status ?? '';
  const note = a2aReceived.createNote(node, {
    url,
    status,
    message: ending.kind === 'completed' ? `${status} (${count} artifact${count === 1 ? '' : 's'})` : status,
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    ...(ending.kind === 'waiting' && {
      question: ending.question,
      ...(ending.asks && { asks: ending.asks }),
      ...(ending.refused && { refused: ending.refused }),
    }),
  });
  return stepEvent(reference, note);
}
